// SPDX-License-Identifier: Apache-2.0
// value[r], index[r] = @Red@ of src[r][0..cols) and its first position, for rows of at most 256 B: the reduction
// writes pairs, which GatherMask separates.
__aicore__ inline void RowArgShort@Red@(const LocalTensor<float>& value, const LocalTensor<int32_t>& index,
                                      const LocalTensor<float>& src, int32_t rows, int32_t cols, int32_t pitch,
                                      const LocalTensor<uint8_t>& work)
{
    constexpr int32_t group = 248;  // rows at a time: fits a repeat count and keeps the outputs on 32 B
    const LocalTensor<float> pairs = work.ReinterpretCast<float>();
    uint64_t kept = 0;
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        const uint32_t words = static_cast<uint32_t>(2 * count);
        WholeReduce@Red@(pairs, src[r * pitch], cols, count, 1, 1, pitch / 8, ReduceOrder::ORDER_VALUE_INDEX);
        GatherMask(value[r], pairs, 1, true, words, {1, 1, 8, 0}, kept);
        GatherMask(index[r], pairs.ReinterpretCast<int32_t>(), 2, true, words, {1, 1, 8, 0}, kept);
    }
}
