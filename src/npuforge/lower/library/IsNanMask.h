// SPDX-License-Identifier: Apache-2.0
// Bit i of mask = a[i] is NaN: the one value that differs from itself. Capacities as for CompareTiles.
template <typename T>
__aicore__ inline void IsNanMask(const LocalTensor<uint8_t>& mask, const LocalTensor<T>& a, int32_t n)
{
    constexpr int32_t lanes = 256 / sizeof(T);
    Compare(mask, a, a, CMPMODE::NE, static_cast<uint32_t>((n + lanes - 1) / lanes * lanes));
}
