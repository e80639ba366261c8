// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = a[r][c] @Op@ b[r][c] for tiles of different pitch; pitch 0 repeats one row. dst may be
// a or b. Exactly cols lanes of a row are written: pass whole 32 B blocks to keep pad lanes defined.
// Rows become repeats where that takes fewer instructions than one instruction per row, because the
// repeats cost the same and each instruction pays about 22 cycles.
template <typename T>
__aicore__ inline void @Op@Tile(const LocalTensor<T>& dst, int32_t dstPitch, const LocalTensor<T>& a, int32_t aPitch,
                               const LocalTensor<T>& b, int32_t bPitch, int32_t rows, int32_t cols)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    constexpr int32_t maxRepeat = 255;  // also the largest repeat stride
    if (rows <= 0 || cols <= 0) {
        return;
    }
    if (rows == 1 || (cols == dstPitch && cols == aPitch && cols == bPitch)) {
        @Op@(dst, a, b, rows * cols);
        return;
    }
    const int32_t widest = maxRepeat * block;
    const bool fits = dstPitch <= widest && aPitch <= widest && bPitch <= widest;
    const int32_t instructions = (cols + lanes - 1) / lanes * ((rows + maxRepeat - 1) / maxRepeat);
    if (fits && instructions <= rows) {
        const BinaryRepeatParams byRow(1, 1, 1, static_cast<uint8_t>(dstPitch / block),
                                       static_cast<uint8_t>(aPitch / block), static_cast<uint8_t>(bPitch / block));
        for (int32_t r = 0; r < rows; r += maxRepeat) {
            const int32_t repeats = rows - r < maxRepeat ? rows - r : maxRepeat;
            for (int32_t c = 0; c < cols; c += lanes) {
                const uint64_t mask = cols - c < lanes ? cols - c : lanes;
                @Op@(dst[r * dstPitch + c], a[r * aPitch + c], b[r * bPitch + c], mask,
                    static_cast<uint8_t>(repeats), byRow);
            }
        }
        return;
    }
    const BinaryRepeatParams dense(1, 1, 1, 8, 8, 8);
    SetMaskCount();
    SetVectorMask<T, MaskMode::COUNTER>(0, cols);
    for (int32_t r = 0; r < rows; ++r) {
        @Op@<T, false>(dst[r * dstPitch], a[r * aPitch], b[r * bPitch], MASK_PLACEHOLDER, 1, dense);
    }
    SetMaskNorm();
    ResetMask();
}
