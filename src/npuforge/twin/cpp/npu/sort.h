// SPDX-License-Identifier: Apache-2.0
// Sorting of (value, index) records of 8 B.
#pragma once
#include "abi_more.h"
#include "extent.h"
#include "params.h"

namespace AscendC {

inline constexpr int32_t MRG_SORT_ELEMENT_LEN = 4;

struct MrgSort4Info {
    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t lengths[MRG_SORT_ELEMENT_LEN], const bool suspend, const uint16_t valid, const uint16_t repeats)
        : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(static_cast<uint8_t>(repeats)) {
        for (int i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) elementLengths[i] = lengths[i];
    }
    uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;
};

template <typename T> struct MrgSortSrcList {
    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T>& list1, const LocalTensor<T>& list2, const LocalTensor<T>& list3, const LocalTensor<T>& list4)
        : src1(list1), src2(list2), src3(list3), src4(list4) {}
    LocalTensor<T> src1, src2, src3, src4;
};

namespace internal {

template <typename T> constexpr void OnlySortable() {
    static_assert(AnyOf<T, half, float>, "[DTY-19] sorts take half and float");
}

template <typename T>
void Merge(const LocalTensor<T>& dst, const MrgSortSrcList<T>& lists, const uint16_t* lengths, bool suspend, uint16_t valid,
           int32_t repeats, const char* name) {
    OnlySortable<T>();
    npuforge::MergeJob job{};
    job.dst = dst.AsTile();
    const LocalTensor<T>* all[] = {&lists.src1, &lists.src2, &lists.src3, &lists.src4};
    for (int i = 0; i < 4; ++i) {
        job.lists[i] = all[i]->AsTile();
        job.lengths[i] = lengths[i];
    }
    job.valid = valid;
    job.suspend = suspend;
    job.repeats = repeats;
    npuforge::merge_sort(job, name);
}

}  // namespace internal

template <typename T>
inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& src1, const int32_t repeatTime) {
    internal::OnlySortable<T>();
    npuforge::sort32(dst.AsTile(), src0.AsTile(), src1.AsTile(), repeatTime);
}

template <typename T> inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params) {
    internal::Merge(dst, src, params.elementLengths, params.ifExhaustedSuspension, params.validBit, params.repeatTimes, "MrgSort");
}

inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3, uint16_t& mrgSortList4) {
    uint16_t counts[4];
    npuforge::merged_counts(counts);
    mrgSortList1 = counts[0];
    mrgSortList2 = counts[1];
    mrgSortList3 = counts[2];
    mrgSortList4 = counts[3];
}

template <typename T, bool isExhaustedSuspension = false>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList, const uint16_t elementCountList[4],
                    uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime) {
    internal::Merge(dst, sortList, elementCountList, isExhaustedSuspension, validBit, repeatTime, "MrgSort");
    if constexpr (isExhaustedSuspension) {
        uint16_t counts[4];
        npuforge::merged_counts(counts);
        for (int i = 0; i < 4; ++i) sortedNum[i] = counts[i];
    }
}

template <typename T> inline uint32_t GetSortOffset(const uint32_t elemOffset) { return elemOffset * (8 / sizeof(T)); }
template <typename T> inline uint32_t GetSortLen(const uint32_t elemCount) { return elemCount * (8 / sizeof(T)); }

// Records are already in the layout Sort wants.
template <typename T>
inline void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& tmp, const int32_t repeatTime) {
    (void)tmp;
    (void)repeatTime;
    concat = src;
}

template <typename T>
inline void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex, const LocalTensor<T>& sorted,
                    const int32_t repeatTime) {
    internal::OnlySortable<T>();
    npuforge::extract_sorted(dstValue.AsTile(), dstIndex.AsTile(), sorted.AsTile(), repeatTime);
}

// Groups of 32, then merges of up to four runs until one is left; dst and tmp take turns.
template <typename T, bool isFullSort>
inline void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<uint32_t>& index, LocalTensor<T>& tmp,
                 const int32_t repeatTime) {
    Sort32(dst, concat, index, repeatTime);
    if constexpr (isFullSort) {
        constexpr uint32_t record = 8 / sizeof(T);
        const uint32_t total = static_cast<uint32_t>(repeatTime) * 32;
        LocalTensor<T> from = dst, to = tmp;
        bool inDst = true;
        for (uint32_t run = 32; run < total; run *= 4) {
            for (uint32_t at = 0; at < total; at += run * 4) {
                uint16_t lengths[4] = {};
                int lists = 0;
                for (; lists < 4 && at + lists * run < total; ++lists) {
                    const uint32_t left = total - at - lists * run;
                    lengths[lists] = static_cast<uint16_t>(left < run ? left : run);
                }
                const auto list = [&](int i) { return from[(at + (i < lists ? i : 0) * run) * record]; };
                if (lists == 1) {
                    DataCopy(to[at * record], from[at * record], lengths[0] * record);
                } else {
                    const MrgSortSrcList<T> sources(list(0), list(1), list(2), list(3));
                    MrgSort(to[at * record], sources,
                            MrgSort4Info(lengths, false, lists == 4 ? 15 : lists == 3 ? 7 : 3, 1));
                }
            }
            LocalTensor<T> swap = from;
            from = to;
            to = swap;
            inDst = !inDst;
        }
        if (!inDst) DataCopy(dst, from, total * record);
    }
}

// Region proposals belong to other architectures: here these compile and do nothing.
#define NPUFORGE_PROPOSAL(NAME)                                                                               \
    template <typename T, typename... A> inline void NAME(const LocalTensor<T>&, const A&...) {                \
        npuforge::report("DTY-21", #NAME " does nothing on 2201: use Sort32, MrgSort and Extract");             \
    }
NPUFORGE_PROPOSAL(ProposalConcat)
NPUFORGE_PROPOSAL(ProposalExtract)
NPUFORGE_PROPOSAL(RpSort16)
NPUFORGE_PROPOSAL(MrgSort4)
#undef NPUFORGE_PROPOSAL

}  // namespace AscendC
