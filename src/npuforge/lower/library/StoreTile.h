// SPDX-License-Identifier: Apache-2.0
// n contiguous elements to global memory, not one byte more.
template <typename T>
__aicore__ inline void StoreTile(const GlobalTensor<T>& dst, const LocalTensor<T>& src, int64_t n)
{
    if (n <= 0) {
        return;
    }
    const DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
    DataCopyPad(dst, src, copy);
}
