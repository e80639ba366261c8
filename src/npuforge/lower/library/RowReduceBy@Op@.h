// SPDX-License-Identifier: Apache-2.0
// dst[r] = @Op@ over src[r][0..cols), for operators and types that have no reduce instruction; identity
// is the neutral element of @Op@. src is kept; the last 32 B block of dst is defined throughout.
// Rows are folded to one 32 B block; then even and odd lanes (GatherMask) are combined until one is left.
template <typename T>
__aicore__ inline void RowReduceBy@Op@(const LocalTensor<T>& dst, const LocalTensor<T>& src, T identity, int32_t rows,
                                      int32_t cols, int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    constexpr int32_t group = 64;  // rows at a time
    constexpr uint8_t evenLanes = 1;
    constexpr uint8_t oddLanes = 2;
    if (rows <= 0 || cols <= 0) {
        return;
    }
    if (rows % block != 0) {
        Duplicate(dst[rows / block * block], identity, block);
    }
    const int32_t pairs = cols / lanes / 2;
    int32_t half = 64 / rows;  // 16 KB for one row, 32 KB at most
    half = half < 2 ? 2 : half;
    half = pairs < 1 ? 1 : (pairs < half ? pairs : half);
    const int32_t width = half * lanes;
    const int32_t most = rows < group ? rows : group;
    const LocalTensor<T> fold = work.template ReinterpretCast<T>();
    const LocalTensor<T> even = fold[most * width];
    const LocalTensor<T> odd = even[(most + 1) / 2 * block];
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        if (cols < lanes) {
            Duplicate(fold, identity, count * lanes);
            @Op@Tile(fold, lanes, fold, lanes, src[r * pitch], pitch, count, cols);
        } else {
            RowFold@Op@(fold, half, src[r * pitch], count, cols, pitch);
        }
        for (int32_t left = lanes / 2; left >= block; left /= 2) {
            @Op@Tile(fold, width, fold, width, fold[left], width, count, left);
        }
        uint64_t kept = 0;
        GatherMask(even, fold, evenLanes, true, block, {1, static_cast<uint16_t>(count), static_cast<uint16_t>(width / block), 0}, kept);
        GatherMask(odd, fold, oddLanes, true, block, {1, static_cast<uint16_t>(count), static_cast<uint16_t>(width / block), 0}, kept);
        for (int32_t left = count * block / 2; left > count; left /= 2) {
            @Op@(fold, even, odd, left);
            GatherMask(even, fold, evenLanes, true, left, {1, 1, 8, 0}, kept);
            GatherMask(odd, fold, oddLanes, true, left, {1, 1, 8, 0}, kept);
        }
        @Op@(dst[r], even, odd, count);
    }
}
