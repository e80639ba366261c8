// SPDX-License-Identifier: Apache-2.0
// dst[r] = @Red@ of src[r][0..cols) for rows of at most 256 B; r < rows are written, nothing else.
// For float two block reductions (1 cycle per repeat each) beat one whole reduction (7 cycles): rows to
// up to eight partial results, then those to one. The masks keep pad lanes out.
template <typename T>
__aicore__ inline void RowReduceChunk@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t rows,
                                           int32_t cols, int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t group = 248;  // rows at a time: fits a repeat count and keeps dst on 32 B
    const int32_t stride = pitch / block;
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        if (sizeof(T) != sizeof(float) || count < 8) {
            WholeReduce@Red@(dst[r], src[r * pitch], cols, count, 1, 1, stride@Order@);
            continue;
        }
        const LocalTensor<T> partial = work.template ReinterpretCast<T>();
        BlockReduce@Red@(partial, src[r * pitch], count, cols, 1, 1, stride);
        const uint64_t results = (1ULL << ((cols + block - 1) / block)) - 1;  // partial results of a row
        uint64_t mask[2] = {results * 0x0101010101010101ULL, 0};
        const int32_t full = count / 8;
        BlockReduce@Red@(dst[r], partial, full, mask, 1, 1, 8);
        if (count % 8 != 0) {
            mask[0] &= (1ULL << (count % 8 * 8)) - 1;
            BlockReduce@Red@(dst[r + full * 8], partial[full * 64], 1, mask, 1, 1, 8);
        }
    }
}
