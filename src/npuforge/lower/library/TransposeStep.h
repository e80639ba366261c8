// SPDX-License-Identifier: Apache-2.0
// Transposes 16 rows of one 32 B block each, repeats times, with TransDataTo5HD. Fewer valid rows repeat
// the last one; where the upper half of the rows has no place in dst it repeats the lower half, so that
// both write the same. Fewer valid columns send the others to spare (512 B), for one repeat only.
template <typename T>
__aicore__ inline void TransposeStep(const LocalTensor<T>& dst, int32_t dstPitch, const LocalTensor<T>& src,
                                     int32_t srcPitch, int32_t rows, int32_t cols, int32_t repeats, int32_t dstStep,
                                     int32_t srcStep, const LocalTensor<uint8_t>& spare)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t parts = 16 / block;  // blocks of 16 rows in a column
    const bool lower = parts == 2 && rows <= block;
    uint64_t to[16];
    uint64_t from[16];
    for (int32_t i = 0; i < 16; ++i) {
        const int32_t wanted = lower ? i % block : i;
        const int32_t row = wanted < rows ? wanted : rows - 1;
        from[i] = (uint64_t)src[row * srcPitch].GetPhyAddr();
        const int32_t column = i / parts;
        const int32_t part = lower ? 0 : i % parts;
        to[i] = column < cols ? (uint64_t)dst[column * dstPitch + part * block].GetPhyAddr()
                              : (uint64_t)spare[i * 32].GetPhyAddr();
    }
    const bool single = repeats == 1;  // a single repeat would start one step further
    TransDataTo5HD<T>(to, from, TransDataTo5HDParams(false, false, static_cast<uint8_t>(repeats),
                                                     static_cast<uint16_t>(single ? 0 : dstStep),
                                                     static_cast<uint16_t>(single ? 0 : srcStep)));
}
