// SPDX-License-Identifier: Apache-2.0
// The k best of n elements, in order, with their positions: value[i] and index[i] for i < k, ties by
// position. descending: the largest first; otherwise the smallest (the values are negated on the way).
// NaN counts as the largest. MrgSort has no order for it, so it is sorted as an infinity, infinities of that end as
// the last finite number, and values are read from src once more. n up to 8192. Groups of 32 are sorted (Sort32),
// then merged four at a time (MrgSort); lists are cut at k before each merge.
__aicore__ inline void TopKRow(const LocalTensor<float>& value, const LocalTensor<int32_t>& index,
                               const LocalTensor<float>& src, int32_t n, int32_t k, bool descending,
                               const LocalTensor<uint8_t>& work)
{
    constexpr uint32_t lowest = 0xff800000;                        // minus infinity
    const uint32_t unordered = descending ? 0x7f800000 : lowest;  // what NaN is sorted as
    constexpr float finite = 3.4028234663852886e38f;
    constexpr int32_t record = 2;            // a value and its index
    if (n <= 0 || k <= 0) {
        return;
    }
    const int32_t total = (n + 31) / 32 * 32;
    LocalTensor<float> from = work.ReinterpretCast<float>();
    LocalTensor<float> to = from[total * record];
    const LocalTensor<int32_t> position = to[total].ReinterpretCast<int32_t>();
    if (total != n) {
        Duplicate(to[total - 32].ReinterpretCast<uint32_t>(), lowest, 32);
    }
    Muls(to, src, descending ? 1.0f : -1.0f, n);
    CreateVecIndex(position, 0, static_cast<uint32_t>(total));
    const LocalTensor<uint8_t> number = from.ReinterpretCast<uint8_t>();
    Compare(number, to, to, CMPMODE::EQ, static_cast<uint32_t>((total + 63) / 64 * 64));
    if (descending) {
        Mins(to, to, finite, n);
    } else {
        Maxs(to, to, -finite, n);
    }
    SelectTileScalar(to, number, to, *reinterpret_cast<const float*>(&unordered), n);
    Sort32(from, to, position.ReinterpretCast<uint32_t>(), total / 32);
    for (int32_t run = 32; run < total; run *= 4) {
        const int32_t kept = k < run ? k : run;
        int32_t start = 0;
        if (kept == run && total / (4 * run) > 0) {
            const int32_t groups = total / (4 * run);  // whole groups of four full lists: one instruction
            const uint16_t lengths[4] = {static_cast<uint16_t>(run), static_cast<uint16_t>(run),
                                         static_cast<uint16_t>(run), static_cast<uint16_t>(run)};
            MrgSort(to, MrgSortSrcList<float>(from, from[run * record], from[2 * run * record], from[3 * run * record]),
                    MrgSort4Info(lengths, false, 15, static_cast<uint16_t>(groups)));
            start = groups * 4 * run;
        }
        for (; start < total; start += 4 * run) {
            uint16_t lengths[4] = {0, 0, 0, 0};
            int32_t lists = 0;
            for (; lists < 4 && start + lists * run < total; ++lists) {
                const int32_t left = total - start - lists * run;
                lengths[lists] = static_cast<uint16_t>(left < kept ? left : kept);
            }
            const LocalTensor<float> first = from[start * record];
            if (lists == 1) {
                DataCopy(to[start * record], first, (lengths[0] + 3) / 4 * 4 * record);
                continue;
            }
            MrgSort(to[start * record],
                    MrgSortSrcList<float>(first, from[(start + run) * record],
                                          lists > 2 ? from[(start + 2 * run) * record] : first,
                                          lists > 3 ? from[(start + 3 * run) * record] : first),
                    MrgSort4Info(lengths, false, static_cast<uint16_t>((1 << lists) - 1), 1));
        }
        const LocalTensor<float> sorted = to;
        to = from;
        from = sorted;
    }
    uint64_t count = 0;
    const uint32_t words = static_cast<uint32_t>(k * record);
    GatherMask(index, from.ReinterpretCast<int32_t>(), 2, true, words, {1, 1, 8, 0}, count);
    GatherElements(from, src, index, k, to.ReinterpretCast<uint8_t>());
    Muls(value, from, 1.0f, k);
}
