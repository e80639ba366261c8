// SPDX-License-Identifier: Apache-2.0
// Bit i of mask = a[i] @Cmp@ b[i]. Compare has no lane mask on this architecture: it reads a and b, and
// writes bits, up to the end of a 256 B chunk. a and b therefore need capacity for align(n * size, 256)
// bytes and mask for align(n, lanes) / 8 bytes; bits from n on are arbitrary.
template <typename T>
__aicore__ inline void CompareTiles@Cmp@(const LocalTensor<uint8_t>& mask, const LocalTensor<T>& a, const LocalTensor<T>& b,
                                         int32_t n)
{
    constexpr int32_t lanes = 256 / sizeof(T);
    Compare(mask, a, b, CMPMODE::@Cmp@, static_cast<uint32_t>((n + lanes - 1) / lanes * lanes));
}
