// SPDX-License-Identifier: Apache-2.0
// One instruction as the timeline simulator sees it. The recorder appends these in program order,
// one stream per core; nothing here depends on the rest of the runtime.
#pragma once

#include <cstdint>

namespace npuforge {

enum class Pipe : uint8_t { S, V, MTE2, MTE3, MTE1, M, FIX, Count };

enum class RecordKind : uint8_t {
  Exec,       // `cycles` of work on `pipe`
  Dma,        // a transfer to or from GM on `pipe`; MTE2 reads, MTE3 and FIX write
  SetFlag,    // on `pipe` (the producer), for `other` (the pipe that will wait), id `event`
  WaitFlag,   // the same three values as the SetFlag it waits for; blocks `other`
  Barrier,    // PipeBarrier on `pipe`; Pipe::Count stands for PIPE_ALL
  CrossSet,   // flag to other cores once `pipe` has come this far; `rows` is the CrossMode
  CrossWait,  // `pipe` blocks until the flag `event` has arrived; `rows` is the CrossMode
  SyncAll,    // every core of the launch (MIX: every core that executes one) meets here
  Scalar,     // scalar work alone; with row_bytes > 0 an access to GM through the data cache
};

// How far a cross-core flag reaches. Token is point to point (IBSet/IBWait, NotifyNextBlock):
// `gm_address` is any value that names the pair, and each wait consumes one set.
enum class CrossMode : uint16_t { All = 0, Vectors = 1, Group = 2, Token = 3 };

// Bits of Record::flags.
inline constexpr uint8_t kRecordBypassL2 = 1;   // Dma: CacheMode::CACHE_MODE_DISABLE on the tensor
inline constexpr uint8_t kRecordUnaligned = 2;  // Dma: DataCopyPad (byte-granular rows)
inline constexpr uint8_t kRecordAtomic = 4;     // Dma: SetAtomic* is in force, GM is read and written
inline constexpr uint8_t kRecordWrite = 8;      // Scalar: the GM access is a store
inline constexpr uint8_t kRecordVectorsOnly = 16;  // SyncAll<true>: AIV cores only

struct Record {
  uint64_t gm_address = 0;     // Dma, Scalar: first byte in GM; CrossMode::Token: the pair's name
  uint32_t row_bytes = 0;      // Dma: bytes of one row; Scalar: bytes accessed, 0 for none
  uint32_t row_stride = 0;     // Dma: bytes from row start to row start in GM (0: contiguous)
  uint32_t scalar_cycles = 0;  // scalar-unit cycles spent since the previous record
  uint32_t cycles = 0;         // Exec: cycles on its pipe; Dma: cycles on top of the transfer (ND2NZ)
  uint32_t site = 0;           // call-site id
  uint16_t rows = 1;           // Dma: rows (the hardware's limit is 4095); Cross*: CrossMode
  uint16_t op = 0;             // CostTable::op_id of the API name
  RecordKind kind = RecordKind::Scalar;
  Pipe pipe = Pipe::S;
  Pipe other = Pipe::Count;
  uint8_t event = 0;
  uint8_t flags = 0;
};

static_assert(sizeof(Record) <= 48);

}  // namespace npuforge
