// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = a[r][c] @Op@ v[c]. dst may be a. v is read up to the end of its last 32 B block.
template <typename T>
__aicore__ inline void @Op@Row(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& v, int32_t rows,
                              int32_t cols, int32_t pitch)
{
    constexpr int32_t block = 32 / sizeof(T);
    @Op@Tile(dst, pitch, a, pitch, v, 0, rows, (cols + block - 1) / block * block);
}
