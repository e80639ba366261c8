// SPDX-License-Identifier: Apache-2.0
// dst[c][r] = src[r][c] for 16 and 32 bit types; src is rows x cols, dst cols x rows, whole 32 B blocks of
// dst rows are written (pad lanes repeat the last row of src). dst is not src. The longer direction
// becomes the repeats of an instruction.
template <typename T>
__aicore__ inline void TransposeTile(const LocalTensor<T>& dst, int32_t dstPitch, const LocalTensor<T>& src,
                                     int32_t srcPitch, int32_t rows, int32_t cols, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t maxRepeat = 255;
    const int32_t fullCols = cols / block;
    const int32_t tailCols = cols - fullCols * block;
    const int32_t fullRows = rows / 16;
    const int32_t tailRows = rows - fullRows * 16;
    if (fullRows >= fullCols) {
        for (int32_t c = 0; c < fullCols * block; c += block) {
            for (int32_t k = 0; k < fullRows; k += maxRepeat) {
                const int32_t repeats = fullRows - k < maxRepeat ? fullRows - k : maxRepeat;
                TransposeStep(dst[c * dstPitch + k * 16], dstPitch, src[k * 16 * srcPitch + c], srcPitch, 16, block,
                              repeats, 16 / block, 16 * srcPitch / block, work);
            }
        }
    }
    for (int32_t r = fullRows >= fullCols ? fullRows * 16 : 0; r < rows; r += 16) {
        const int32_t count = rows - r < 16 ? rows - r : 16;
        for (int32_t k = 0; k < fullCols; k += maxRepeat) {
            const int32_t repeats = fullCols - k < maxRepeat ? fullCols - k : maxRepeat;
            TransposeStep(dst[k * block * dstPitch + r], dstPitch, src[r * srcPitch + k * block], srcPitch, count, block,
                          repeats, dstPitch, 1, work);
        }
    }
    for (int32_t r = 0; tailCols > 0 && r < rows; r += 16) {
        const int32_t count = rows - r < 16 ? rows - r : 16;
        TransposeStep(dst[fullCols * block * dstPitch + r], dstPitch, src[r * srcPitch + fullCols * block], srcPitch,
                      count, tailCols, 1, 0, 0, work);
    }
}
