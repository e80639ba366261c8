// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = @Red@ of src[r][0..c] for many rows: up to 64 rows become lanes (TransposeTile), a scan down
// the rows does the work, and back. Columns come in pieces of 16 KB; the end of a piece starts the next.
template <typename T>
__aicore__ inline void RowScanShort@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t rows,
                                         int32_t cols, int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t group = 64;
    const LocalTensor<uint8_t> spare = work;
    const LocalTensor<T> carry = work[512].template ReinterpretCast<T>();
    const LocalTensor<T> lanes = work[512 + group * sizeof(T)].template ReinterpretCast<T>();
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        const int32_t width = (count + block - 1) / block * block;
        const int32_t piece = 4096 / width / 16 * 16;
        for (int32_t c = 0; c < cols; c += piece) {
            const int32_t length = cols - c < piece ? cols - c : piece;
            TransposeTile(lanes, width, src[r * pitch + c], pitch, count, length, spare);
            if (c > 0) {
                @Op@(lanes, lanes, carry, width);
            }
            ColScan@Red@(lanes, lanes, length, width, width);
            DataCopy(carry, lanes[(length - 1) * width], width);
            TransposeTile(dst[r * pitch + c], pitch, lanes, width, length, count, spare);
        }
    }
}
