// SPDX-License-Identifier: Apache-2.0
// dst[i] = bit i of mask ? a[i] : value. dst may be a. The kernel leaves the last 8 KB of UB to Select.
template <typename T>
__aicore__ inline void SelectTileScalar(const LocalTensor<T>& dst, const LocalTensor<uint8_t>& mask,
                                        const LocalTensor<T>& a, T value, int32_t n)
{
    if (n > 0) {
        Select(dst, mask, a, value, SELMODE::VSEL_TENSOR_SCALAR_MODE, static_cast<uint32_t>(n));
    }
}
