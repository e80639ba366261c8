// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = v[c]. Whole 32 B blocks move, so any element type is moved as 16 bit words. Rows are the
// repeats of Copy where that takes fewer instructions than one DataCopy per row.
template <typename T>
__aicore__ inline void BroadcastRow(const LocalTensor<T>& dst, const LocalTensor<T>& v, int32_t rows, int32_t cols,
                                    int32_t pitch)
{
    constexpr int32_t block = 16;  // words of 2 B in 32 B
    constexpr int32_t lanes = 128;
    constexpr int32_t maxRepeat = 255;
    const LocalTensor<uint16_t> to = dst.template ReinterpretCast<uint16_t>();
    const LocalTensor<uint16_t> from = v.template ReinterpretCast<uint16_t>();
    const int32_t blocks = (cols * static_cast<int32_t>(sizeof(T)) + 31) / 32;
    const int32_t stride = pitch * static_cast<int32_t>(sizeof(T)) / 32;
    const int32_t instructions = (blocks + 7) / 8 * ((rows + maxRepeat - 1) / maxRepeat);
    if (stride <= 4095 && instructions <= rows) {
        const CopyRepeatParams byRow(1, 1, static_cast<uint16_t>(stride), 0);
        for (int32_t r = 0; r < rows; r += maxRepeat) {
            const int32_t repeats = rows - r < maxRepeat ? rows - r : maxRepeat;
            for (int32_t b = 0; b < blocks; b += 8) {
                const uint64_t mask = blocks - b < 8 ? (blocks - b) * block : lanes;
                Copy(to[(r * stride + b) * block], from[b * block], mask, static_cast<uint8_t>(repeats), byRow);
            }
        }
        return;
    }
    for (int32_t r = 0; r < rows; ++r) {
        DataCopy(to[r * stride * block], from, DataCopyParams(1, static_cast<uint16_t>(blocks), 0, 0));
    }
}
