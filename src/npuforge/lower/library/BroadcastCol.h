// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = v[r]. Brcb makes a 32 B block of each element of v, Copy with source block stride 0 spreads
// it along the row. v is read in groups of eight elements.
template <typename T>
__aicore__ inline void BroadcastCol(const LocalTensor<T>& dst, const LocalTensor<T>& v, int32_t rows, int32_t cols,
                                    int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t lanes = 256 / sizeof(T);
    constexpr int32_t group = 240;  // rows at a time: fits a repeat count and keeps v on 32 B
    constexpr int32_t maxRepeat = 255;
    const LocalTensor<T> blocks = work.template ReinterpretCast<T>();
    const int32_t width = (cols + block - 1) / block * block;
    const int32_t chunks = (width + lanes - 1) / lanes;
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        Brcb(blocks, v[r], static_cast<uint8_t>((count + 7) / 8), {1, 8});
        if (pitch <= 4095 * block && chunks <= count) {
            const CopyRepeatParams byRow(1, 0, static_cast<uint16_t>(pitch / block), 1);
            for (int32_t c = 0; c < width; c += lanes) {
                const uint64_t mask = width - c < lanes ? width - c : lanes;
                Copy(dst[r * pitch + c], blocks, mask, static_cast<uint8_t>(count), byRow);
            }
        } else {
            const CopyRepeatParams along(1, 0, 8, 0);
            const int32_t full = width / lanes;
            const int32_t tail = width - full * lanes;
            for (int32_t i = 0; i < count; ++i) {
                const int32_t row = (r + i) * pitch;
                for (int32_t k = 0; k < full; k += maxRepeat) {
                    const int32_t repeats = full - k < maxRepeat ? full - k : maxRepeat;
                    Copy(dst[row + k * lanes], blocks[i * block], lanes, static_cast<uint8_t>(repeats), along);
                }
                if (tail > 0) {
                    Copy(dst[row + full * lanes], blocks[i * block], tail, 1, along);
                }
            }
        }
    }
}
