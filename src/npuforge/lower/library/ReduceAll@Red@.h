// SPDX-License-Identifier: Apache-2.0
// dst[0] = @Red@ of n contiguous elements: one row. The rest of dst's 32 B block is zero.
template <typename T>
__aicore__ inline void ReduceAll@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t n,
                                      const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    RowReduce@Red@(dst, src, 1, n, (n + block - 1) / block * block, work);
}
