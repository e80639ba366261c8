// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = v[c] @Op@ a[r][c]. dst may be a. v is read up to the end of its last 32 B block.
template <typename T>
__aicore__ inline void Row@Op@(const LocalTensor<T>& dst, const LocalTensor<T>& v, const LocalTensor<T>& a, int32_t rows,
                              int32_t cols, int32_t pitch)
{
    constexpr int32_t block = 32 / sizeof(T);
    @Op@Tile(dst, pitch, v, 0, a, pitch, rows, (cols + block - 1) / block * block);
}
