// SPDX-License-Identifier: Apache-2.0
// dst[0] = @Op@ over n contiguous elements, for operators and types that have no reduce instruction.
template <typename T>
__aicore__ inline void ReduceAllBy@Op@(const LocalTensor<T>& dst, const LocalTensor<T>& src, T identity, int32_t n,
                                      const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    RowReduceBy@Op@(dst, src, identity, 1, n, (n + block - 1) / block * block, work);
}
