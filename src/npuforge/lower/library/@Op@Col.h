// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = a[r][c] @Op@ v[r]. dst may be a. Brcb turns each element of v into a 32 B block, which
// block stride 0 repeats along the row. v is read in groups of eight elements.
template <typename T>
__aicore__ inline void @Op@Col(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& v, int32_t rows,
                              int32_t cols, int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    constexpr int32_t group = 240;  // rows at a time: fits a repeat count and keeps v on 32 B
    const LocalTensor<T> blocks = work.template ReinterpretCast<T>();
    const int32_t width = (cols + block - 1) / block * block;
    const int32_t chunks = (width + lanes - 1) / lanes;
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        Brcb(blocks, v[r], static_cast<uint8_t>((count + 7) / 8), {1, 8});
        if (pitch <= 255 * block && chunks <= count) {
            const uint8_t stride = static_cast<uint8_t>(pitch / block);
            for (int32_t c = 0; c < width; c += lanes) {
                const uint64_t mask = width - c < lanes ? width - c : lanes;
                @Op@(dst[r * pitch + c], a[r * pitch + c], blocks, mask, static_cast<uint8_t>(count),
                    BinaryRepeatParams(1, 1, 0, stride, stride, 1));
            }
        } else {
            SetMaskCount();
            SetVectorMask<T, MaskMode::COUNTER>(0, width);
            for (int32_t i = 0; i < count; ++i) {
                @Op@<T, false>(dst[(r + i) * pitch], a[(r + i) * pitch], blocks[i * block], MASK_PLACEHOLDER, 1,
                              BinaryRepeatParams(1, 1, 0, 8, 8, 0));
            }
            SetMaskNorm();
            ResetMask();
        }
    }
}
