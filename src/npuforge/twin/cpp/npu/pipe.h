// SPDX-License-Identifier: Apache-2.0
// TPipe, TQue, TQueBind, TBuf, TBufPool: who owns local memory and which flags guard it.
#pragma once
#include "abi_more.h"
#include "tensor.h"

namespace AscendC {

using TEventID = int8_t;
using TBufHandle = uint8_t*;
using TBufState = uint8_t;

namespace internal {

constexpr npuforge::Pipe PipeOf(pipe_t pipe) {
    switch (pipe) {
        case PIPE_S: return npuforge::Pipe::S;
        case PIPE_V: case PIPE_V2: return npuforge::Pipe::V;
        case PIPE_M: return npuforge::Pipe::M;
        case PIPE_MTE1: return npuforge::Pipe::MTE1;
        case PIPE_MTE2: return npuforge::Pipe::MTE2;
        case PIPE_MTE3: return npuforge::Pipe::MTE3;
        case PIPE_FIX: return npuforge::Pipe::FIX;
        default: return npuforge::Pipe::Count;
    }
}

struct PipePair {
    npuforge::Pipe from, to;
};

constexpr PipePair PipesOf(HardEvent event) {
    using P = npuforge::Pipe;
    switch (event) {
        case HardEvent::MTE2_MTE1: return {P::MTE2, P::MTE1};
        case HardEvent::MTE1_MTE2: return {P::MTE1, P::MTE2};
        case HardEvent::MTE1_M: return {P::MTE1, P::M};
        case HardEvent::M_MTE1: return {P::M, P::MTE1};
        case HardEvent::MTE2_V: return {P::MTE2, P::V};
        case HardEvent::V_MTE2: return {P::V, P::MTE2};
        case HardEvent::MTE3_V: return {P::MTE3, P::V};
        case HardEvent::V_MTE3: return {P::V, P::MTE3};
        case HardEvent::M_V: return {P::M, P::V};
        case HardEvent::V_M: return {P::V, P::M};
        case HardEvent::V_V: return {P::V, P::V};
        case HardEvent::MTE3_MTE1: return {P::MTE3, P::MTE1};
        case HardEvent::MTE1_MTE3: return {P::MTE1, P::MTE3};
        case HardEvent::MTE1_V: return {P::MTE1, P::V};
        case HardEvent::MTE2_M: return {P::MTE2, P::M};
        case HardEvent::M_MTE2: return {P::M, P::MTE2};
        case HardEvent::V_MTE1: return {P::V, P::MTE1};
        case HardEvent::M_FIX: return {P::M, P::FIX};
        case HardEvent::FIX_M: return {P::FIX, P::M};
        case HardEvent::MTE3_MTE2: return {P::MTE3, P::MTE2};
        case HardEvent::MTE2_MTE3: return {P::MTE2, P::MTE3};
        case HardEvent::S_V: return {P::S, P::V};
        case HardEvent::V_S: return {P::V, P::S};
        case HardEvent::S_MTE2: return {P::S, P::MTE2};
        case HardEvent::MTE2_S: return {P::MTE2, P::S};
        case HardEvent::S_MTE3: return {P::S, P::MTE3};
        case HardEvent::MTE3_S: return {P::MTE3, P::S};
        case HardEvent::MTE2_FIX: return {P::MTE2, P::FIX};
        case HardEvent::FIX_MTE2: return {P::FIX, P::MTE2};
        case HardEvent::FIX_S: return {P::FIX, P::S};
        case HardEvent::M_S: return {P::M, P::S};
        case HardEvent::FIX_MTE3: return {P::FIX, P::MTE3};
        case HardEvent::MTE1_FIX: return {P::MTE1, P::FIX};
        case HardEvent::FIX_MTE1: return {P::FIX, P::MTE1};
        case HardEvent::FIX_V: return {P::FIX, P::V};
        default: return {P::FIX, P::FIX};
    }
}

}  // namespace internal

struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind {
public:
    static constexpr bool isTQue = true;
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    // Tensors carry the local end of the binding as their position.
    static constexpr TPosition position = src == TPosition::GM ? dst : src;

    TQueBind() {
        state_.source_position = static_cast<uint8_t>(src);
        state_.target_position = static_cast<uint8_t>(dst);
        state_.depth = static_cast<uint8_t>(depth);
    }
    template <typename T> LocalTensor<T> AllocTensor() { return AsTensor<T>(npuforge::queue_alloc(state_)); }
    template <typename T> void AllocTensor(LocalTensor<T>& tensor) { tensor = AllocTensor<T>(); }
    template <typename T> void FreeTensor(LocalTensor<T>& tensor) { npuforge::queue_free(state_, tensor.Data()); }
    template <typename T> void FreeTensor(LocalTensor<T>&& tensor) { npuforge::queue_free(state_, tensor.Data()); }
    template <typename T> bool EnQue(const LocalTensor<T>& tensor) {
        npuforge::queue_enqueue(state_, tensor.Data());
        return true;
    }
    bool EnQue(TBufHandle buf) {
        npuforge::queue_enqueue(state_, buf);
        return true;
    }
    TBufHandle DeQue() { return npuforge::queue_dequeue(state_)->base; }
    TBufHandle AllocBuffer() { return npuforge::queue_alloc(state_)->base; }
    void FreeBuffer(TBufHandle buf) { npuforge::queue_free(state_, buf); }
    uint8_t* GetBufferAddr(TBufHandle buf) { return buf; }
    template <typename T> TBufState GetState(const LocalTensor<T>& tensor) const {
        for (int i = 0; i < state_.count; ++i)
            if (reinterpret_cast<uint8_t*>(tensor.Data()) == state_.slots[i].base) return state_.slots[i].state;
        return 0;
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T> bool EnQue(const LocalTensor<T>& tensor) {
        return EnQue<T>(tensor);
    }
    template <typename T> LocalTensor<T> DeQue() { return AsTensor<T>(npuforge::queue_dequeue(state_)); }
    template <typename T> void DeQue(LocalTensor<T>& tensor) { tensor = DeQue<T>(); }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T> LocalTensor<T> DeQue() { return DeQue<T>(); }
    bool VacantInQue() const { return state_.queued < (depth > 0 ? depth : 1); }
    bool HasTensorInQue() const { return state_.queued > 0; }
    int32_t GetTensorCountInQue() const { return state_.queued; }
    bool HasIdleBuffer() const {
        for (int i = 0; i < state_.count; ++i)
            if (state_.slots[i].state == 0) return true;
        return false;
    }
    void FreeAllEvent() {}
    npuforge::QueueState& State() { return state_; }
    // For pools of the user's own: first the number of buffers, then the place of each.
    void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t len) {
        npuforge::queue_init_at(state_, num, len, npuforge::local_memory(SpaceOf(position)));
    }
    template <typename Pool> void InitBufHandle(Pool*, uint32_t index, TBufHandle, uint32_t address, uint32_t) {
        if (index < state_.count) state_.slots[index].base = npuforge::local_memory(SpaceOf(position)) + address;
    }

private:
    template <typename T> LocalTensor<T> AsTensor(npuforge::Slot* slot) {
        uint32_t count;
        if constexpr (std::is_same_v<T, int4b_t>) count = state_.bytes * 2;
        else count = state_.bytes / sizeof(T);
        return LocalTensor<T>(reinterpret_cast<T*>(slot->base), count, position);
    }
    npuforge::QueueState state_;
};

namespace internal {
constexpr bool IsSourcePosition(TPosition pos) {
    return pos == TPosition::VECOUT || pos == TPosition::CO1 || pos == TPosition::CO2;
}
}  // namespace internal

// A queue belongs to one position; data comes from or goes to GM at its other end.
template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<internal::IsSourcePosition(pos) ? pos : TPosition::GM,
                             internal::IsSourcePosition(pos) ? TPosition::GM : pos, depth, mask> {};

template <TPosition pos = TPosition::LCM> class TBuf {
public:
    static constexpr bool isTQue = false;
    static constexpr TPosition position = pos;
    template <typename T> LocalTensor<T> Get() { return Get<T>(CountOf<T>(bytes_)); }
    template <typename T> LocalTensor<T> Get(uint32_t len) {
        if (__builtin_expect(BytesOf<T>(len) > bytes_, 0))
            npuforge::report("CAP-08", "Get of %lld B from a buffer of %u B", static_cast<long long>(BytesOf<T>(len)), bytes_);
        return LocalTensor<T>(reinterpret_cast<T*>(base_), len, pos);
    }
    template <typename T> LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset) {
        if (__builtin_expect(bufOffset % 32 != 0, 0))
            npuforge::report("ALN-11", "GetWithOffset at byte %u, which is no multiple of 32", bufOffset);
        if (__builtin_expect(bufOffset + BytesOf<T>(size) > bytes_, 0))
            npuforge::report("CAP-08", "GetWithOffset of %lld B at byte %u from a buffer of %u B",
                             static_cast<long long>(BytesOf<T>(size)), bufOffset, bytes_);
        return LocalTensor<T>(reinterpret_cast<T*>(base_ + bufOffset), size, pos);
    }
    template <typename T> void EnQue(const LocalTensor<T>&) {}
    template <typename T> LocalTensor<T> DeQue() { return Get<T>(); }
    template <typename T> LocalTensor<T> AllocTensor() { return Get<T>(); }
    template <typename T> void FreeTensor(LocalTensor<T>&) {}
    uint32_t GetBufLen() const { return bytes_; }
    void SetTpipeBuf(uint8_t* base, uint32_t bytes) {
        base_ = base;
        bytes_ = bytes;
    }
    void InitStartBufHandle(TBufHandle, uint8_t, uint32_t len) { bytes_ = len; }
    template <typename Pool> void InitBufHandle(Pool*, uint32_t, TBufHandle, uint32_t address, uint32_t len) {
        SetTpipeBuf(npuforge::local_memory(SpaceOf(pos)) + address, len);
    }

private:
    template <typename T> static uint32_t CountOf(uint32_t bytes) {
        if constexpr (std::is_same_v<T, int4b_t>) return bytes * 2;
        else return bytes / static_cast<uint32_t>(sizeof(T));
    }
    uint8_t* base_ = nullptr;
    uint32_t bytes_ = 0;
};

// A region of a pipe that is given out again: pools may share memory one after the other.
template <TPosition pos, uint32_t bufIDSize = 4> class TBufPool {
public:
    static constexpr TPosition position = pos;
    template <class T> bool InitBuffer(T& que, uint8_t num, uint32_t len) {
        const uint32_t each = Align(len);
        if (!Fits(num * each)) return false;
        npuforge::queue_init_at(que.State(), num, each, base_ + used_);
        used_ += num * each;
        return true;
    }
    template <TPosition bufPos> bool InitBuffer(TBuf<bufPos>& buf, uint32_t len) {
        const uint32_t each = Align(len);
        if (!Fits(each)) return false;
        buf.SetTpipeBuf(base_ + used_, each);
        used_ += each;
        return true;
    }
    template <class T> bool InitBufPool(T& pool, uint32_t len) {
        if (!Fits(len)) return false;
        pool.Bind(base_ + used_, len);
        used_ += Align(len);
        return true;
    }
    template <class T, class U> bool InitBufPool(T& pool, uint32_t len, U& shared) {
        pool.Bind(shared.Base(), len);
        return true;
    }
    void Reset() {
        npuforge::pool_reset(base_, bytes_);
        used_ = 0;
    }
    void Bind(uint8_t* base, uint32_t bytes) {
        base_ = base;
        bytes_ = bytes;
        used_ = 0;
    }
    uint8_t* Base() const { return base_; }

private:
    static uint32_t Align(uint32_t len) { return (len + 31) / 32 * 32; }
    bool Fits(uint32_t more) {
        if (used_ + more <= bytes_) return true;
        npuforge::report("CAP-07", "a buffer pool of %u B cannot hold %u B more than the %u B it holds", bytes_, more, used_);
        return false;
    }
    uint8_t* base_ = nullptr;
    uint32_t bytes_ = 0, used_ = 0;
};

// A pool of the user's own: addresses are bytes of local memory, buffers are counted by hand.
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                                            \
public:                                                                                                   \
    static constexpr AscendC::TPosition position = POSITION;                                              \
    void Init() { npuforgeStart_ = npuforgeNext_ = npuforgeBytes_ = npuforgeBuffers_ = 0; }               \
    void Reset() {                                                                                        \
        npuforge::pool_reset(Base(), npuforgeBytes_);                                                     \
        npuforgeNext_ = npuforgeStart_;                                                                   \
        npuforgeBuffers_ = 0;                                                                             \
    }                                                                                                     \
    void Bind(uint8_t* base, uint32_t bytes) {                                                            \
        npuforgeStart_ = static_cast<uint32_t>(base - npuforge::local_memory(AscendC::SpaceOf(position))); \
        npuforgeNext_ = npuforgeStart_;                                                                   \
        npuforgeBytes_ = bytes;                                                                           \
        npuforgeBuffers_ = 0;                                                                             \
    }                                                                                                     \
    uint8_t* Base() const { return npuforge::local_memory(AscendC::SpaceOf(position)) + npuforgeStart_; } \
    AscendC::TBufHandle GetBufHandle(uint8_t) { return Base(); }                                          \
    void SetCurAddr(uint32_t address) { npuforgeNext_ = address; }                                        \
    uint32_t GetCurAddr() { return npuforgeNext_; }                                                       \
    void SetCurBufSize(uint8_t buffers) { npuforgeBuffers_ = buffers; }                                   \
    uint8_t GetCurBufSize() { return static_cast<uint8_t>(npuforgeBuffers_); }                            \
                                                                                                          \
private:                                                                                                  \
    uint32_t npuforgeStart_ = 0, npuforgeNext_ = 0, npuforgeBytes_ = 0, npuforgeBuffers_ = 0

class TPipe {
public:
    TPipe() { Init(); }
    ~TPipe() { npuforge::pipe_destroyed(this, true); }
    void Init() { npuforge::pipe_created(this); }
    void Destroy() { npuforge::pipe_destroyed(this, true); }
    void DestroyWithoutPipeAll() { npuforge::pipe_destroyed(this, false); }
    void Reset() { npuforge::pipe_reset(this); }

    template <class T> bool InitBuffer(T& que, uint8_t num, uint32_t len) {
        que.State().pipe = this;
        npuforge::queue_init(que.State(), num, len);
        return true;
    }
    template <TPosition bufPos> bool InitBuffer(TBuf<bufPos>& buf, uint32_t len) {
        const npuforge::Buffer memory = npuforge::ub_allocate(len, static_cast<uint8_t>(bufPos), "TBuf");
        buf.SetTpipeBuf(memory.base, memory.bytes);
        return true;
    }
    // A TBuf is a queue of its own to the toolkit: the form for queues gives it one piece of memory.
    template <TPosition bufPos> bool InitBuffer(TBuf<bufPos>& buf, uint8_t num, uint32_t len) {
        return InitBuffer(buf, num * ((len + 31) / 32 * 32));
    }
    template <class T> bool InitBufPool(T& pool, uint32_t len) {
        const npuforge::Buffer memory = npuforge::ub_allocate(len, static_cast<uint8_t>(T::position), "TBufPool");
        pool.Bind(memory.base, memory.bytes);
        return true;
    }
    template <class T, class U> bool InitBufPool(T& pool, uint32_t len, U& shared) {
        pool.Bind(shared.Base(), len);
        return true;
    }
    template <HardEvent evt> TEventID AllocEventID() {
        constexpr internal::PipePair p = internal::PipesOf(evt);
        return static_cast<TEventID>(npuforge::alloc_event(p.from, p.to));
    }
    template <HardEvent evt> void ReleaseEventID(TEventID id) {
        constexpr internal::PipePair p = internal::PipesOf(evt);
        npuforge::release_event(p.from, p.to, id);
    }
    template <HardEvent evt> TEventID FetchEventID() { return FetchEventID(evt); }
    TEventID FetchEventID(HardEvent evt) {
        const internal::PipePair p = internal::PipesOf(evt);
        return static_cast<TEventID>(npuforge::fetch_event(p.from, p.to));
    }
    template <TPosition pos> LocalTensor<uint8_t> GetAbsAddr(int32_t offset, int32_t size) const {
        return LocalTensor<uint8_t>(pos, offset, size);
    }
    template <TPosition pos, typename T> LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const {
        return LocalTensor<T>(pos, offset, size);
    }
    uint64_t GetBaseAddr(int8_t logicPos) const {
        return reinterpret_cast<uint64_t>(npuforge::local_memory(SpaceOf(static_cast<TPosition>(logicPos))));
    }
};

template <TPosition pos, int32_t depth = 1, auto mask = 0> using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

}  // namespace AscendC

inline AscendC::TPipe* GetTPipePtr() { return static_cast<AscendC::TPipe*>(npuforge::current_pipe()); }

namespace AscendC {

using ::GetTPipePtr;

// What InitBuffer has left of local memory. It is given back at once: the next call gives the same.
template <typename T, TPosition pos> inline bool PopStackBuffer(LocalTensor<T>& popBuffer) {
    const npuforge::Buffer rest = npuforge::ub_rest();
    popBuffer = LocalTensor<T>(reinterpret_cast<T*>(rest.base), static_cast<uint32_t>(rest.bytes / sizeof(T)), pos);
    return true;
}
template <TPosition pos> inline bool PopStackBuffer(TBuf<pos>& popBuffer) {
    const npuforge::Buffer rest = npuforge::ub_rest();
    popBuffer.SetTpipeBuf(rest.base, rest.bytes);
    return true;
}

}  // namespace AscendC
