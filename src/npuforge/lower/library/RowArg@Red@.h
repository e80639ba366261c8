// SPDX-License-Identifier: Apache-2.0
// value[r], index[r] = @Red@ of src[r][0..cols) and its first position; the last 32 B block of both is defined
// throughout. No NaN. For float; positions are exact up to 2^24.
__aicore__ inline void RowArg@Red@(const LocalTensor<float>& value, const LocalTensor<int32_t>& index,
                                 const LocalTensor<float>& src, int32_t rows, int32_t cols, int32_t pitch,
                                 const LocalTensor<uint8_t>& work)
{
    if (rows <= 0 || cols <= 0) {
        return;
    }
    if (rows % 8 != 0) {
        Duplicate(index[rows / 8 * 8], 0, 8);
        Duplicate(value[rows / 8 * 8], 0.0f, 8);
    }
    if (cols <= 64) {
        RowArgShort@Red@(value, index, src, rows, cols, pitch, work);
    } else if (rows < cols / 64 || pitch > 255 * 8) {
        RowArgLong@Red@(value, index, src, rows, cols, pitch, work);
    } else {
        RowReduce@Red@(value, src, rows, cols, pitch, work);
        RowArgWide@Red@(index, value, src, rows, cols, pitch, work);
    }
}
