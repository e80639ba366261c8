// SPDX-License-Identifier: Apache-2.0
// Flags and barriers inside a core, and meeting points between cores.
#pragma once
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

template <bool isAIVOnly = true> inline void SyncAll() { npuforge::sync_all(isAIVOnly); }

template <uint8_t modeId, pipe_t pipe> inline void CrossCoreSetFlag(uint16_t flagId) {
    npuforge::cross_set(modeId, internal::PipeOf(pipe), flagId);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S> inline void CrossCoreWaitFlag(uint16_t flagId) {
    npuforge::cross_wait(modeId, internal::PipeOf(pipe), flagId);
}

}  // namespace AscendC

// The raw forms: a pipe pair and an event.
inline void set_flag(pipe_t from, pipe_t to, int event) {
    npuforge::set_flag(AscendC::internal::PipeOf(from), AscendC::internal::PipeOf(to), event);
}
inline void wait_flag(pipe_t from, pipe_t to, int event) {
    npuforge::wait_flag(AscendC::internal::PipeOf(from), AscendC::internal::PipeOf(to), event);
}
inline void pipe_barrier(pipe_t pipe) { npuforge::pipe_barrier(AscendC::internal::PipeOf(pipe)); }
