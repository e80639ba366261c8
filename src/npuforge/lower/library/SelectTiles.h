// SPDX-License-Identifier: Apache-2.0
// dst[i] = bit i of mask ? a[i] : b[i]. dst may be a or b. 16 and 32 bit types are moved as half and
// float, the types Select takes. The kernel leaves the last 8 KB of UB to Select.
template <typename T>
__aicore__ inline void SelectTiles(const LocalTensor<T>& dst, const LocalTensor<uint8_t>& mask, const LocalTensor<T>& a,
                                   const LocalTensor<T>& b, int32_t n)
{
    if (n <= 0) {
        return;
    }
    if constexpr (sizeof(T) == 4) {
        Select(dst.template ReinterpretCast<float>(), mask, a.template ReinterpretCast<float>(),
               b.template ReinterpretCast<float>(), SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(n));
    } else {
        Select(dst.template ReinterpretCast<half>(), mask, a.template ReinterpretCast<half>(),
               b.template ReinterpretCast<half>(), SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(n));
    }
}
