// SPDX-License-Identifier: Apache-2.0
// All n elements in order with their positions, ties by position: see TopKRow.
__aicore__ inline void SortRow(const LocalTensor<float>& value, const LocalTensor<int32_t>& index,
                               const LocalTensor<float>& src, int32_t n, bool descending,
                               const LocalTensor<uint8_t>& work)
{
    TopKRow(value, index, src, n, n, descending, work);
}
