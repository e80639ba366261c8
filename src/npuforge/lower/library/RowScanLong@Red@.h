// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = @Red@ of src[r][0..c] for few long rows. A piece of a row (up to 2048 elements) is 16 segments
// that become lanes; their ends, spread by Brcb, scanned and transposed, are what each segment adds.
// The end of a piece starts the next. identity is the neutral element of @Op@.
template <typename T>
__aicore__ inline void RowScanLong@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, T identity, int32_t rows,
                                        int32_t cols, int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t segments = 16;
    constexpr int32_t piece = 2048;
    const LocalTensor<uint8_t> spare = work;
    const LocalTensor<T> ends = work[512].template ReinterpretCast<T>();  // 17 blocks: carry, then the segments
    const LocalTensor<T> offsets = ends[(segments + 1) * block];
    const LocalTensor<T> lanes = offsets[segments * block];
    const LocalTensor<T> stage = lanes[piece];
    for (int32_t r = 0; r < rows; ++r) {
        Duplicate(ends, identity, block);
        for (int32_t c = 0; c < cols; c += piece) {
            const int32_t rest = (cols - c + block - 1) / block * block;
            const int32_t count = rest < piece ? rest : piece;
            const int32_t length = (count + segments * block - 1) / (segments * block) * block;
            DataCopy(stage, src[r * pitch + c], count);
            if (count < segments * length) {
                Duplicate(stage[count], identity, segments * length - count);
            }
            TransposeTile(lanes, segments, stage, length, segments, length, spare);
            ColScan@Red@(lanes, lanes, length, segments, segments);
            Brcb(ends[block], lanes[(length - 1) * segments], 2, {1, 8});
            ColScan@Red@(ends, ends, segments + 1, block, block);
            TransposeTile(offsets, segments, ends, block, segments, block, spare);
            @Op@Row(lanes, lanes, offsets, length, segments, segments);
            DataCopy(ends, ends[segments * block], block);
            TransposeTile(stage, length, lanes, segments, length, segments, spare);
            DataCopy(dst[r * pitch + c], stage, count);
        }
    }
}
