// SPDX-License-Identifier: Apache-2.0
// rows x cols elements, rows `pitch` apart in the tile and `stride` apart in global memory.
template <typename T>
__aicore__ inline void StoreRows(const GlobalTensor<T>& dst, const LocalTensor<T>& src, int64_t rows, int64_t cols,
                                 int64_t stride, int64_t pitch)
{
    constexpr int64_t block = 32 / sizeof(T);
    if (rows <= 0 || cols <= 0) {
        return;
    }
    const int64_t width = (cols + block - 1) / block * block;
    const int64_t gap = (stride - cols) * static_cast<int64_t>(sizeof(T));
    const int64_t most = gap < 0 || gap > 0xFFFFFFFFLL ? 1 : 4095;
    for (int64_t row = 0; row < rows; row += most) {
        const int64_t count = rows - row < most ? rows - row : most;
        const DataCopyExtParams copy{static_cast<uint16_t>(count), static_cast<uint32_t>(cols * sizeof(T)),
                                     static_cast<uint32_t>((pitch - width) / block),
                                     static_cast<uint32_t>(count == 1 ? 0 : gap), 0};
        DataCopyPad(dst[row * stride], src[row * pitch], copy);
    }
}
