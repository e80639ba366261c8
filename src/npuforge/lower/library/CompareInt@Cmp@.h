// SPDX-License-Identifier: Apache-2.0
// Bit i of mask = a[i] @Cmp@ b[i] for int32, whose only comparison is EQ: @Way@
// Capacities as for CompareTiles; work holds one more tile of that capacity.
__aicore__ inline void CompareInt@Cmp@(const LocalTensor<uint8_t>& mask, const LocalTensor<int32_t>& a,
                                     const LocalTensor<int32_t>& b, int32_t n, const LocalTensor<uint8_t>& work)
{
    const LocalTensor<int32_t> @Other@ = work.ReinterpretCast<int32_t>();
    const int32_t whole = (n + 63) / 64 * 64;
    @Fold@(@Other@, a, b, whole);
    Compare(mask, @Other@, a, CMPMODE::EQ, static_cast<uint32_t>(whole));@Flip@
}
