// SPDX-License-Identifier: Apache-2.0
// n contiguous elements from global memory; the rest of the last 32 B block becomes zero.
template <typename T>
__aicore__ inline void LoadTile(const LocalTensor<T>& dst, const GlobalTensor<T>& src, int64_t n)
{
    constexpr int64_t block = 32 / sizeof(T);
    if (n <= 0) {
        return;
    }
    const DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
    const DataCopyPadExtParams<T> pad{true, 0, static_cast<uint8_t>((block - n % block) % block), 0};
    DataCopyPad(dst, src, copy, pad);
}
