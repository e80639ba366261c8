// SPDX-License-Identifier: Apache-2.0
// index[r] = first position of value[r] in src[r][0..cols), for many rows of more than 256 B. Per 256 B column chunk and
// all rows at once: compare with the row's value, put positions where equal and a large number elsewhere, keep the
// least. The kernel leaves the last 8 KB of UB to Select.
__aicore__ inline void RowArgWide@Red@(const LocalTensor<int32_t>& index, const LocalTensor<float>& value,
                                     const LocalTensor<float>& src, int32_t rows, int32_t cols, int32_t pitch,
                                     const LocalTensor<uint8_t>& work)
{
    constexpr int32_t lanes = 64;
    constexpr int32_t group = 32;    // rows at a time
    constexpr float nowhere = 1e9f;  // beyond every position
    const LocalTensor<float> spread = work.ReinterpretCast<float>();
    const LocalTensor<float> found = spread[group * 8];
    const LocalTensor<float> least = found[group * lanes];
    const LocalTensor<float> first = least[group * lanes];
    const LocalTensor<float> here = first[lanes];
    const LocalTensor<float> place = here[lanes];
    const LocalTensor<uint8_t> bits = place[group].ReinterpretCast<uint8_t>();
    const LocalTensor<uint8_t> partial = bits[group * 8];
    const uint8_t stride = static_cast<uint8_t>(pitch / 8);
    CreateVecIndex(first, 0.0f, static_cast<uint32_t>(lanes));
    for (int32_t r = 0; r < rows; r += group) {
        const int32_t count = rows - r < group ? rows - r : group;
        const uint8_t repeats = static_cast<uint8_t>(count);
        Brcb(spread, value[r], static_cast<uint8_t>((count + 7) / 8), {1, 8});
        Duplicate(least, nowhere, count * lanes);
        for (int32_t c = 0; c < cols; c += lanes) {
            const int32_t used = cols - c < lanes ? cols - c : lanes;
            LocalTensor<float> from = src[r * pitch + c];
            uint8_t step = stride;
            Adds(here, first, static_cast<float>(c), lanes);
            if (used < lanes) {  // Compare reads whole chunks: bring the tail where there is one
                @Keep@(found, from, spread, static_cast<uint64_t>(used), repeats, BinaryRepeatParams(1, 1, 0, 8, stride, 1));
                from = found;
                step = 8;
            }
            Compare(bits, from, spread, CMPMODE::EQ, static_cast<uint64_t>(lanes), repeats,
                    BinaryRepeatParams(1, 1, 0, 8, step, 1));
            Select(found, bits, here, nowhere, SELMODE::VSEL_TENSOR_SCALAR_MODE, static_cast<uint64_t>(lanes), repeats,
                   BinaryRepeatParams(1, 1, 1, 8, 0, 0));
            MinTile(least, lanes, least, lanes, found, lanes, count, used);
        }
        RowReduceChunkMin(place, least, count, lanes, lanes, partial);
        Cast(index[r], place, RoundMode::CAST_RINT, static_cast<uint32_t>(count));
    }
}
