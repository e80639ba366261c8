// SPDX-License-Identifier: Apache-2.0
// dst[i] = bit i of mask ? yes : no. The kernel leaves the last 8 KB of UB to Select.
template <typename T>
__aicore__ inline void SelectScalars(const LocalTensor<T>& dst, const LocalTensor<uint8_t>& mask, T yes, T no, int32_t n)
{
    if (n <= 0) {
        return;
    }
    Duplicate(dst, yes, n);
    Select(dst, mask, dst, no, SELMODE::VSEL_TENSOR_SCALAR_MODE, static_cast<uint32_t>(n));
}
