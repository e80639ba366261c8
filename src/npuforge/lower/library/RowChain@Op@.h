// SPDX-License-Identifier: Apache-2.0
// Folds few long rows to 256 B each: fold[r] = @Op@ over the 256 B chunks of src[r], tail included. One
// instruction per row takes all its chunks, the result being the operand of the next repeat (strides 0).
template <typename T>
__aicore__ inline void RowChain@Op@(const LocalTensor<T>& fold, const LocalTensor<T>& src, int32_t rows, int32_t cols,
                                   int32_t pitch)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    const int32_t full = cols / lanes;
    const int32_t tail = cols - full * lanes;
    DataCopy(fold, src, DataCopyParams(static_cast<uint16_t>(rows), 8, static_cast<uint16_t>(pitch / block - 8), 0));
    const BinaryRepeatParams steps(1, 1, 1, 0, 8, 0);
    for (int32_t r = 0; r < rows; ++r) {
        for (int32_t done = 1; done < full; done += 255) {
            const int32_t chunks = full - done < 255 ? full - done : 255;
            @Op@(fold[r * lanes], src[r * pitch + done * lanes], fold[r * lanes], static_cast<uint64_t>(lanes),
                static_cast<uint8_t>(chunks), steps);
        }
    }
    if (tail > 0) {
        @Op@Tile(fold, lanes, fold, lanes, src[full * lanes], pitch, rows, tail);
    }
}
