// SPDX-License-Identifier: Apache-2.0
// Flags and barriers inside a core, and meeting points between cores.
#pragma once
#include "abi_more.h"
#include "pipe.h"

namespace AscendC {

template <HardEvent event> inline void SetFlag(int32_t eventID) {
    constexpr internal::PipePair p = internal::PipesOf(event);
    npuforge::set_flag(p.from, p.to, eventID);
}
template <HardEvent event> inline void WaitFlag(int32_t eventID) {
    constexpr internal::PipePair p = internal::PipesOf(event);
    npuforge::wait_flag(p.from, p.to, eventID);
}
template <pipe_t pipe> inline void PipeBarrier() {
    static_assert(pipe != PIPE_S, "[EVT-06] PipeBarrier<PIPE_S> is not supported");
    npuforge::pipe_barrier(internal::PipeOf(pipe));
}

template <pipe_t src, pipe_t dst> class TQueSync {
public:
    void SetFlag(TEventID id) { npuforge::set_flag(internal::PipeOf(src), internal::PipeOf(dst), id); }
    void WaitFlag(TEventID id) { npuforge::wait_flag(internal::PipeOf(src), internal::PipeOf(dst), id); }
};

// Waits for accesses of the scalar unit; the twin's scalar accesses take effect at once.
template <MemDsbT arg0> inline void DataSyncBarrier() {}

template <bool isAIVOnly = true> inline void SyncAll() { npuforge::sync_all(isAIVOnly); }
template <bool isAIVOnly = true>
inline void SyncAll(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, const int32_t usedCores = 0) {
    npuforge::sync_all_in_memory(gmWorkspace.GetPhyAddr(), gmWorkspace.GetSize() * sizeof(int32_t), ubWorkspace.Data(),
                                 ubWorkspace.GetLength(), usedCores);
}

template <uint8_t modeId, pipe_t pipe> inline void CrossCoreSetFlag(uint16_t flagId) {
    npuforge::cross_set(modeId, internal::PipeOf(pipe), flagId);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S> inline void CrossCoreWaitFlag(uint16_t flagId) {
    npuforge::cross_wait(modeId, internal::PipeOf(pipe), flagId);
}

namespace internal {
// The slot of GM that a pair of IBSet and IBWait shares.
inline const void* TokenSlot(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
                             int32_t eventID) {
    const int64_t slot = npuforge::block_count() * eventID + blockIdx;
    const uint64_t bytes = gmWorkspace.GetSize() * sizeof(int32_t);
    if (bytes != 0 && static_cast<uint64_t>(slot + 1) * 32 > bytes)
        npuforge::report("XCR-11", "block %d, event %d need %lld B of GM workspace, it has %llu B", blockIdx, eventID,
                         static_cast<long long>((slot + 1) * 32), static_cast<unsigned long long>(bytes));
    if (ubWorkspace.GetLength() < 32) npuforge::report("XCR-11", "the UB workspace has %u B, 32 are needed", ubWorkspace.GetLength());
    return gmWorkspace.GetPhyAddr() + slot * 8;
}
}  // namespace internal

template <bool isAIVOnly = true>
inline void IBSet(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx, int32_t eventID) {
    npuforge::token_set(internal::TokenSlot(gmWorkspace, ubWorkspace, blockIdx, eventID));
}
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx, int32_t eventID) {
    npuforge::token_wait(internal::TokenSlot(gmWorkspace, ubWorkspace, blockIdx, eventID));
}

inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace) {
    const auto needed = static_cast<uint64_t>(npuforge::block_count()) * 32;
    if ((gmWorkspace.GetSize() != 0 && gmWorkspace.GetSize() * 4 < needed) || ubWorkspace.GetLength() < needed + 32)
        npuforge::report("XCR-12", "turns of %lld cores need %llu B in GM and 32 B more in UB, there are %llu and %u B",
                         static_cast<long long>(npuforge::block_count()), static_cast<unsigned long long>(needed),
                         static_cast<unsigned long long>(gmWorkspace.GetSize() * 4), ubWorkspace.GetLength());
    npuforge::determine_begin(gmWorkspace.GetPhyAddr());
}
inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>&) { npuforge::determine_wait(gmWorkspace.GetPhyAddr()); }
inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>&) {
    npuforge::determine_notify(gmWorkspace.GetPhyAddr());
}

// Some cores arrive, others wait for all of them; rounds follow one another.
template <PipeMode pipeMode> class GroupBarrier {
public:
    GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn, uint32_t waitSizeIn)
        : workspace_(groupWorkspace), arriving_(arriveSizeIn), waiting_(waitSizeIn) {}
    void Arrive(uint32_t) { npuforge::group_arrive(workspace_, round_++, waiting_); }
    void Wait(uint32_t) { npuforge::group_wait(workspace_, round_++, arriving_); }
    uint64_t GetWorkspaceLen() const { return uint64_t(arriving_ > waiting_ ? arriving_ : waiting_) * 512; }

private:
    GM_ADDR workspace_;
    uint32_t arriving_, waiting_;
    uint64_t round_ = 0;
};

// Between kernels of one stream: a launch is alone here.
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false> inline void SetNextTaskStart() {}
template <bool FORCE = false> inline void WaitPreTaskEnd() {}

}  // namespace AscendC

// The raw forms: a pipe pair and an event.
inline void set_flag(pipe_t from, pipe_t to, int event) {
    npuforge::set_flag(AscendC::internal::PipeOf(from), AscendC::internal::PipeOf(to), event);
}
inline void wait_flag(pipe_t from, pipe_t to, int event) {
    npuforge::wait_flag(AscendC::internal::PipeOf(from), AscendC::internal::PipeOf(to), event);
}
inline void pipe_barrier(pipe_t pipe) { npuforge::pipe_barrier(AscendC::internal::PipeOf(pipe)); }
