// SPDX-License-Identifier: Apache-2.0
// Bit i of mask = a[i] @Cmp@ value. a needs capacity for align(n * size, 256) bytes and mask for
// align(n, lanes) / 8 bytes, because the instruction has no lane mask; bits from n on are arbitrary.
template <typename T>
__aicore__ inline void CompareScalar@Cmp@(const LocalTensor<uint8_t>& mask, const LocalTensor<T>& a, T value, int32_t n)
{
    constexpr int32_t lanes = 256 / sizeof(T);
    CompareScalar(mask, a, value, CMPMODE::@Cmp@, static_cast<uint32_t>((n + lanes - 1) / lanes * lanes));
}
