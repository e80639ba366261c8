// SPDX-License-Identifier: Apache-2.0
// Bit i of mask = a[i] != b[i] for int32, whose only comparison is EQ. Capacities as for CompareTiles.
__aicore__ inline void CompareIntNE(const LocalTensor<uint8_t>& mask, const LocalTensor<int32_t>& a,
                                    const LocalTensor<int32_t>& b, int32_t n)
{
    Compare(mask, a, b, CMPMODE::EQ, static_cast<uint32_t>((n + 63) / 64 * 64));
    MaskNot(mask, mask, n);
}
