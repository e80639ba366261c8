// SPDX-License-Identifier: Apache-2.0
// dst[r] = @Red@ of src[r][0..cols). src is kept; the last 32 B block of dst is defined throughout.
// Long rows are folded to 256 B first, at one cycle per repeat where a reduction costs up to seven: few
// rows each by one chained instruction, many rows by halving them together.
template <typename T>
__aicore__ inline void RowReduce@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t rows, int32_t cols,
                                      int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    constexpr int32_t budget = 128;  // chunks of 256 B folded at a time: bounds the scratch
    if (rows <= 0 || cols <= 0) {
        return;
    }
    if (rows % block != 0) {
        Duplicate(dst[rows / block * block], static_cast<T>(0), block);
    }
    if (cols <= lanes) {
        RowReduceChunk@Red@(dst, src, rows, cols, pitch, work);
        return;
    }
    const LocalTensor<T> fold = work.template ReinterpretCast<T>();
    if (sizeof(T) == 4 && cols / lanes >= 4 && rows <= 2 * (cols / lanes)) {
        const int32_t most = rows < 64 ? rows : 64;
        for (int32_t r = 0; r < rows; r += most) {
            const int32_t count = rows - r < most ? rows - r : most;
            RowChain@Op@(fold, src[r * pitch], count, cols, pitch);
            RowReduceChunk@Red@(dst[r], fold, count, lanes, lanes, work[most * 256]);
        }
        return;
    }
    int32_t half = budget / rows;
    half = half > 64 ? 64 : (half < 16 ? 16 : half);
    const int32_t pairs = cols / lanes / 2;
    half = pairs < 1 ? 1 : (pairs < half ? pairs : half);
    int32_t group = budget / half / 8 * 8;
    group = group < 8 ? 8 : group;
    group = rows < group ? rows : group;
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        RowFold@Op@(fold, half, src[r * pitch], count, cols, pitch);
        RowReduceChunk@Red@(dst[r], fold, count, lanes, half * lanes, work[group * half * 256]);
    }
}
