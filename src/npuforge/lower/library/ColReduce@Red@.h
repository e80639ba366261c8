// SPDX-License-Identifier: Apache-2.0
// dst[c] = @Red@ of src[0..rows)[c], whole 32 B blocks of dst. src is kept; dst is neither src nor work.
// Half of the rows are folded onto the other half (as many as the scratch holds), the rest onto those,
// then halves again: few long instructions, in the order of a tree.
template <typename T>
__aicore__ inline void ColReduce@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t rows, int32_t cols,
                                      int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t budget = 32768 / sizeof(T);  // elements folded at a time
    if (rows <= 0 || cols <= 0) {
        return;
    }
    const int32_t width = (cols + block - 1) / block * block;
    if (rows == 1) {
        DataCopy(dst, src, width);
        return;
    }
    int32_t half = budget / width;
    half = half > rows / 2 ? rows / 2 : (half < 1 ? 1 : half);
    const LocalTensor<T> fold = half == 1 ? dst : work.template ReinterpretCast<T>();
    @Op@Tile(fold, width, src, pitch, src[half * pitch], pitch, half, width);
    for (int32_t done = 2 * half; done < rows; done += half) {
        const int32_t count = rows - done < half ? rows - done : half;
        @Op@Tile(fold, width, fold, width, src[done * pitch], pitch, count, width);
    }
    for (int32_t left = half; left > 1;) {
        const int32_t upper = left / 2;
        left -= upper;
        @Op@(left == 1 ? dst : fold, fold, fold[left * width], upper * width);
    }
}
