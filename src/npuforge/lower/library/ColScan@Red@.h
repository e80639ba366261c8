// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = @Red@ of src[0..r][c], whole 32 B blocks. dst may be src. Rows are scanned in blocks of about
// sqrt(rows): the k-th row of all blocks at once, then each block takes over the end of the one before:
// 2 sqrt(rows) instructions. Where rows are wide, one instruction per row is as few. Products are taken in
// order: those of a block may overflow where the whole does not.
template <typename T>
__aicore__ inline void ColScan@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t rows, int32_t cols,
                                    int32_t pitch)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    if (rows <= 0 || cols <= 0) {
        return;
    }
    const int32_t width = (cols + block - 1) / block * block;
    int32_t depth = 1;
    while (depth * depth < rows) {
        ++depth;
    }
    int32_t blocks = (rows + depth - 1) / depth;
    constexpr bool inOrder = "@Red@"[0] == 'P';
    if (inOrder || depth * pitch > 255 * block || (depth + blocks) * ((width + lanes - 1) / lanes) >= rows) {
        depth = rows;
        blocks = 1;
    }
    const int32_t step = depth * pitch;
    if (dst.GetPhyAddr() != src.GetPhyAddr()) {
        const uint16_t gap = static_cast<uint16_t>(blocks == 1 ? 0 : (step - width) / block);
        DataCopy(dst, src, DataCopyParams(static_cast<uint16_t>(blocks), static_cast<uint16_t>(width / block), gap, gap));
    }
    for (int32_t k = 1; k < depth; ++k) {
        const int32_t count = (rows - k + depth - 1) / depth;
        @Op@Tile(dst[k * pitch], step, dst[(k - 1) * pitch], step, src[k * pitch], step, count, width);
    }
    for (int32_t r = depth; r < rows; r += depth) {
        const int32_t count = rows - r < depth ? rows - r : depth;
        @Op@Tile(dst[r * pitch], pitch, dst[r * pitch], pitch, dst[(r - 1) * pitch], 0, count, width);
    }
}
