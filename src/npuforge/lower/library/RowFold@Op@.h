// SPDX-License-Identifier: Apache-2.0
// Folds rows of at least 256 B to 256 B: fold[r][0..lanes) = @Op@ over the 256 B chunks of src[r], tail
// included. fold has rows of half chunks, its pitch. First half chunks onto half others, then the rest
// of the row onto them, then halves again: long instructions in the order of a tree.
template <typename T>
__aicore__ inline void RowFold@Op@(const LocalTensor<T>& fold, int32_t half, const LocalTensor<T>& src, int32_t rows,
                                  int32_t cols, int32_t pitch)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    const int32_t full = cols / lanes;
    const int32_t tail = cols - full * lanes;
    const int32_t width = half * lanes;
    if (full == 1) {
        DataCopy(fold, src, DataCopyParams(static_cast<uint16_t>(rows), 8, static_cast<uint16_t>(pitch / block - 8), 0));
    } else {
        @Op@Tile(fold, width, src, pitch, src[width], pitch, rows, width);
    }
    for (int32_t done = full == 1 ? 1 : 2 * half; done < full; done += half) {
        const int32_t chunks = full - done < half ? full - done : half;
        @Op@Tile(fold, width, fold, width, src[done * lanes], pitch, rows, chunks * lanes);
    }
    if (tail > 0) {
        @Op@Tile(fold, width, fold, width, src[full * lanes], pitch, rows, tail);
    }
    for (int32_t left = half; left > 1;) {
        const int32_t upper = left / 2;
        left -= upper;
        @Op@Tile(fold, width, fold, width, fold[left * lanes], width, rows, upper * lanes);
    }
}
