// SPDX-License-Identifier: Apache-2.0
// value[r], index[r] = @Red@ of src[r][0..cols) and its first position, for few long rows: one reduction with
// index per row, then the pairs are separated.
__aicore__ inline void RowArgLong@Red@(const LocalTensor<float>& value, const LocalTensor<int32_t>& index,
                                     const LocalTensor<float>& src, int32_t rows, int32_t cols, int32_t pitch,
                                     const LocalTensor<uint8_t>& work)
{
    constexpr int32_t group = 64;  // rows at a time
    const LocalTensor<float> pairs = work.ReinterpretCast<float>();
    const LocalTensor<float> partial = pairs[2 * group];
    uint64_t kept = 0;
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        for (int32_t i = 0; i < count; ++i) {
            Reduce@Red@(pairs[2 * i], src[(r + i) * pitch], partial, cols, true);
        }
        const uint32_t words = static_cast<uint32_t>(2 * count);
        GatherMask(value[r], pairs, 1, true, words, {1, 1, 8, 0}, kept);
        GatherMask(index[r], pairs.ReinterpretCast<int32_t>(), 2, true, words, {1, 1, 8, 0}, kept);
    }
}
