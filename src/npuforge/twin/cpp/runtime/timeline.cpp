// SPDX-License-Identifier: Apache-2.0
// The event loop. A core runs ahead as far as its own state allows, because everything inside a core
// is known as soon as its inputs are; only transfers and cross-core flags tie cores together. A
// transfer asks the L2 and joins the shared servers in global time order, through the event heap.
#include "timeline.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>

#include "timeline_core.h"
#include "timeline_memory.h"
#include "timeline_sync.h"

namespace npuforge {
namespace {

enum class EventKind : uint8_t { CoreStart, CoreEnd, TransferStart, DataStart, LinkEnd };

struct Event {
  double time;
  uint64_t order;  // keeps simultaneous events in the order they were made
  EventKind kind;
  uint32_t core;
  Pipe pipe;
  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

constexpr size_t index_of(Pipe pipe) { return static_cast<size_t>(pipe); }

class Simulator {
 public:
  Simulator(std::span<const std::vector<Record>> streams, const Constants& constants,
            const LaunchInfo& launch)
      : streams_(streams),
        k_(constants),
        launch_(launch),
        l2_(k_.l2_bytes, k_.sector, k_.bypass_row_extra),
        hbm_server_(k_.hbm_read, std::max(k_.aiv_write, k_.aic_read), k_.hbm_mixed_loss),
        l2_server_(k_.l2_bandwidth, std::max(k_.aiv_write, k_.aic_read), 0.0) {}

  Timeline run();

 private:
  // launch
  void prepare();
  void warm_up();
  void start_group(uint32_t slot, double time);
  void start_core(uint32_t core, double time);
  void end_core(uint32_t core, double time);
  double start_offset(uint32_t block) const;

  // one core
  void run_core(uint32_t core, double now);
  bool run_scalar(uint32_t core);
  bool run_pipe(uint32_t core, Pipe pipe);
  bool step_scalar(uint32_t core, CoreState& c, const Record& r);
  bool push(CoreState& c, Pipe pipe);
  bool sync_all(uint32_t core, CoreState& c, const Record& r);
  void scalar_access(CoreState& c, const Record& r);
  bool all_drained(const CoreState& c) const;
  void wait_scalar(CoreState& c, double until);
  double blocked_until(CoreState& c, Pipe pipe, double from, double until);
  void fire(uint32_t core, const Record& r, double time);
  CrossChannel& channel(const CoreState& c, const Record& r, bool waiting);

  // transfers
  void transfer_start(uint32_t core, Pipe pipe, double now);
  void begin_data(uint32_t core, Pipe pipe, double now);
  void data_part_done(uint32_t flow, double now);
  void transfer_done(uint32_t core, Pipe pipe, double now);
  double read_latency(const Traffic& traffic) const;
  bool line_already_open(const CoreState& c, const PipeState& p, const Transfer& t) const;
  double link_cycles(const CoreState& c, const Record& r, const Traffic& t, Pipe pipe) const;

  void at(double time, EventKind kind, uint32_t core, Pipe pipe = Pipe::S) {
    events_.push({time, order_++, kind, core, pipe});
  }
  uint32_t flow_id(uint32_t core, Pipe pipe) const {
    return core * static_cast<uint32_t>(kPipes) + static_cast<uint32_t>(pipe);
  }
  PipeUse& use(const CoreState& c, Pipe p) { return result_.cores[c.stream].pipes[index_of(p)]; }
  void keep(const CoreState& c, Pipe pipe, uint32_t record, double start, double end);
  std::string describe_stall() const;

  std::span<const std::vector<Record>> streams_;
  const Constants& k_;
  const LaunchInfo& launch_;
  L2Model l2_;
  SharedServer hbm_server_, l2_server_;
  std::vector<CoreState> cores_;
  std::map<ChannelKey, CrossChannel> channels_;
  std::unordered_map<uint64_t, uint32_t> readers_of_line_;  // cores, by line of the first byte
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<uint32_t> wake_;
  uint64_t order_ = 0;
  uint32_t group_size_ = 1, next_group_ = 0, groups_ = 0, finished_ = 0;
  std::vector<uint32_t> running_in_slot_;
  size_t site_words_ = 1;
  double last_end_ = 0;
  Timeline result_;
};

// ---- launch -----------------------------------------------------------------------------------

double Simulator::start_offset(uint32_t block) const {
  const double near = std::min(block, k_.launch_knee);
  return near * k_.launch_per_block + (block - near) * k_.launch_beyond;
}

void Simulator::prepare() {
  group_size_ = launch_.type == LaunchType::Mix ? 1 + launch_.vectors_per_cube : 1;
  groups_ = static_cast<uint32_t>(streams_.size() / group_size_);
  const uint32_t physical = launch_.type == LaunchType::Vector ? k_.aiv_cores : k_.aic_cores;
  const uint32_t slots = std::min(groups_, std::max(physical, 1u));
  cores_.resize(size_t{slots} * group_size_);
  running_in_slot_.assign(slots, 0);
  result_.cores.resize(streams_.size());
  uint32_t highest_site = 0;
  for (const auto& stream : streams_)
    for (const Record& r : stream) highest_site = std::max(highest_site, r.site);
  site_words_ = std::min<size_t>(highest_site, 1u << 20) / 64 + 1;
  if (launch_.l2 == L2State::Warm) warm_up();
  for (uint32_t slot = 0; slot < slots; ++slot) start_group(slot, start_offset(slot));
  result_.skew_us = k_.microseconds(slots > 0 ? start_offset(slots - 1) : 0);
}

void Simulator::warm_up() {
  constexpr size_t kTurn = 64;  // records per core before the next core's turn
  size_t longest = 0;
  for (const auto& stream : streams_) longest = std::max(longest, stream.size());
  for (size_t base = 0; base < longest; base += kTurn)
    for (const auto& stream : streams_)
      for (size_t i = base; i < std::min(base + kTurn, stream.size()); ++i) {
        const Record& r = stream[i];
        if (r.kind != RecordKind::Dma) continue;
        r.pipe == Pipe::MTE2 ? l2_.read(r) : l2_.write(r);
      }
  l2_.forget_footprint();
}

void Simulator::start_group(uint32_t slot, double time) {
  running_in_slot_[slot] = group_size_;
  for (uint32_t i = 0; i < group_size_; ++i) {
    const uint32_t core = slot * group_size_ + i;
    cores_[core].stream = next_group_ * group_size_ + i;
    at(time, EventKind::CoreStart, core);
  }
  ++next_group_;
}

void Simulator::start_core(uint32_t core, double time) {
  const uint32_t stream = cores_[core].stream;
  CoreState fresh;
  fresh.stream = stream;
  fresh.active = true;
  fresh.cube = launch_.type == LaunchType::Cube ||
               (launch_.type == LaunchType::Mix && stream % group_size_ == 0);
  fresh.records = &streams_[stream];
  fresh.scalar = time + k_.prologue;
  fresh.seen_sites.assign(site_words_, 0);
  fresh.dcache.assign(k_.dcache_lines, ~uint64_t{0});
  for (PipeState& p : fresh.pipes) {
    p.queue.resize(k_.queue_depth);
    p.slot_free.assign(k_.queue_depth, 0.0);
    p.free = p.done = p.busy_until = time;
  }
  cores_[core] = std::move(fresh);
  CoreTimes& times = result_.cores[stream];
  times.cube = cores_[core].cube;
  times.start_us = k_.microseconds(time);
  times.pipes[index_of(Pipe::S)].busy_us += k_.microseconds(k_.prologue);
  run_core(core, time);
}

void Simulator::end_core(uint32_t core, double time) {
  CoreState& c = cores_[core];
  ++finished_;
  result_.cores[c.stream].end_us = k_.microseconds(time);
  last_end_ = std::max(last_end_, time);
  const uint32_t slot = core / group_size_;
  if (--running_in_slot_[slot] == 0 && next_group_ < groups_)
    start_group(slot, time + k_.next_block);
}

// ---- one core ---------------------------------------------------------------------------------

void Simulator::run_core(uint32_t core, double now) {
  CoreState& c = cores_[core];
  if (!c.active) return;
  for (bool progress = true; progress;) {
    progress = run_scalar(core);
    for (size_t p = 0; p < kPipes; ++p)
      if (!c.pipes[p].empty()) progress |= run_pipe(core, static_cast<Pipe>(p));
  }
  if (c.cursor < c.records->size() || !all_drained(c)) return;
  double end = std::max(c.scalar, now);
  for (const PipeState& p : c.pipes) end = std::max(end, p.done);
  c.active = false;
  at(end, EventKind::CoreEnd, core);
}

bool Simulator::all_drained(const CoreState& c) const {
  return std::all_of(c.pipes.begin(), c.pipes.end(), [](auto& p) { return p.drained(); });
}

void Simulator::wait_scalar(CoreState& c, double until) {
  if (until <= c.scalar) return;
  use(c, Pipe::S).wait_us += k_.microseconds(until - c.scalar);
  c.scalar = until;
}

bool Simulator::run_scalar(uint32_t core) {
  CoreState& c = cores_[core];
  bool progress = false;
  while (c.cursor < c.records->size()) {
    const Record& r = (*c.records)[c.cursor];
    if (!c.charged) {
      const size_t word = std::min<size_t>(r.site / 64, site_words_ - 1);
      const uint64_t bit = uint64_t{1} << r.site % 64;
      double cycles = r.scalar_cycles;
      if (!(c.seen_sites[word] & bit)) {
        c.seen_sites[word] |= bit;
        cycles += k_.cold_site;
      }
      if (r.kind == RecordKind::Scalar || cycles > 0)
        keep(c, Pipe::S, static_cast<uint32_t>(c.cursor), c.scalar, c.scalar + cycles);
      c.scalar += cycles;
      use(c, Pipe::S).busy_us += k_.microseconds(cycles);
      c.charged = true;
    }
    if (!step_scalar(core, c, r)) break;
    ++c.cursor;
    c.charged = false;
    progress = true;
  }
  return progress;
}

// Issues one record; false when the scalar unit has to wait for something not yet known.
bool Simulator::step_scalar(uint32_t core, CoreState& c, const Record& r) {
  switch (r.kind) {
    case RecordKind::Scalar:
      ++use(c, Pipe::S).instructions;
      if (r.row_bytes > 0) scalar_access(c, r);
      return true;
    case RecordKind::SyncAll:
      return sync_all(core, c, r);
    case RecordKind::Barrier:
      if (r.pipe != Pipe::Count && r.pipe != Pipe::S) return push(c, r.pipe);
      if (!all_drained(c)) return false;
      for (const PipeState& p : c.pipes) wait_scalar(c, p.done);
      c.scalar += k_.barrier_all;
      return true;
    case RecordKind::SetFlag:
      if (r.pipe != Pipe::S) return push(c, r.pipe);
      c.scalar += k_.flag;
      fire(core, r, c.scalar);
      return true;
    case RecordKind::WaitFlag: {
      if (r.other != Pipe::S) return push(c, r.other);
      FlagSlot& slot = c.flags[flag_index(r)];
      if (slot.empty()) return false;
      wait_scalar(c, slot.take());
      c.scalar += k_.flag;
      return true;
    }
    case RecordKind::Exec:
      if (r.pipe == Pipe::S) {
        c.scalar += r.cycles;
        use(c, Pipe::S).busy_us += k_.microseconds(r.cycles);
        return true;
      }
      return push(c, r.pipe);
    case RecordKind::Dma:
    case RecordKind::CrossSet:
    case RecordKind::CrossWait:
      return push(c, r.pipe);
  }
  return true;
}

bool Simulator::push(CoreState& c, Pipe pipe) {
  PipeState& p = c.pipes[index_of(pipe)];
  if (p.pushed - p.popped == k_.queue_depth) return false;
  const size_t slot = p.pushed % k_.queue_depth;
  wait_scalar(c, p.slot_free[slot]);
  p.queue[slot] = {static_cast<uint32_t>(c.cursor), c.scalar};
  ++p.pushed;
  return true;
}

void Simulator::scalar_access(CoreState& c, const Record& r) {
  const uint64_t line = r.gm_address / k_.dcache_line_bytes;
  uint64_t& tag = c.dcache[line % k_.dcache_lines];
  const bool store = r.flags & kRecordWrite;
  double cycles = k_.dcache_hit;
  if (tag != line) {
    tag = line;
    cycles = l2_.touch(r.gm_address, store) ? k_.read_l2 : k_.read_hbm;
  }
  c.scalar += cycles;
  use(c, Pipe::S).busy_us += k_.microseconds(cycles);
}

bool Simulator::sync_all(uint32_t core, CoreState& c, const Record& r) {
  if (!all_drained(c)) return false;
  const bool vectors_only = r.flags & kRecordVectorsOnly;
  const uint32_t needed = launch_.type == LaunchType::Mix && vectors_only
                              ? groups_ * launch_.vectors_per_cube
                              : static_cast<uint32_t>(streams_.size());
  const ChannelKey key{CrossMode::All, 0xffffffff, false, vectors_only};
  CrossChannel& meeting = channels_.try_emplace(key, needed).first->second;
  if (!c.arrived) {
    for (const PipeState& p : c.pipes) wait_scalar(c, p.done);
    c.arrived = true;
    meeting.set(c.stream, c.scalar);
    for (uint32_t other : meeting.waiting) wake_.push_back(other);
    meeting.waiting.clear();
  }
  if (!meeting.complete(c.sync_alls)) {
    meeting.waiting.push_back(core);
    return false;
  }
  const double before = c.scalar;
  wait_scalar(c, meeting.time(c.sync_alls) + k_.sync_all);
  result_.cores[c.stream].sync_us += k_.microseconds(c.scalar - before);
  ++c.sync_alls;
  c.arrived = false;
  return true;
}

// A flag whose producer has come this far at `time`.
void Simulator::fire(uint32_t core, const Record& r, double time) {
  CoreState& c = cores_[core];
  if (r.kind == RecordKind::SetFlag) {
    c.flags[flag_index(r)].set(time);
    return;
  }
  CrossChannel& ch = channel(c, r, false);
  ch.set(c.stream, time + k_.sync_flag);
  for (uint32_t other : ch.waiting) wake_.push_back(other);
  ch.waiting.clear();
}

CrossChannel& Simulator::channel(const CoreState& c, const Record& r, bool waiting) {
  const auto mode = static_cast<CrossMode>(r.rows);
  const uint32_t group = c.stream / group_size_;
  const uint32_t vectors = group_size_ > 1 ? group_size_ - 1 : 1;
  const bool from_cube = mode == CrossMode::Group ? c.cube != waiting : c.cube;
  uint32_t needed = 1;
  ChannelKey key{mode, 0, from_cube, r.event};
  if (mode == CrossMode::All) {
    needed = c.cube ? groups_ : groups_ * vectors;
  } else if (mode == CrossMode::Vectors) {
    key = {mode, group, from_cube, r.event};
    needed = vectors;
  } else if (mode == CrossMode::Group) {
    key = {mode, group, from_cube, r.event};
    needed = from_cube ? 1 : vectors;
  } else {
    key = {mode, 0, false, r.gm_address};  // one producer: its sets are the rounds
  }
  return channels_.try_emplace(key, needed).first->second;
}

void Simulator::keep(const CoreState& c, Pipe pipe, uint32_t record, double start, double end) {
  if (c.stream >= launch_.trace_cores || result_.intervals.size() >= launch_.trace_events) return;
  result_.intervals.push_back(
      {c.stream, record, pipe, k_.microseconds(start), k_.microseconds(end)});
}

// `pipe` stood still from `from` until `until`.
double Simulator::blocked_until(CoreState& c, Pipe pipe, double from, double until) {
  if (until > from) use(c, pipe).wait_us += k_.microseconds(until - from);
  return std::max(from, until);
}

// Works through the queue of one pipe as far as is known.
bool Simulator::run_pipe(uint32_t core, Pipe pipe) {
  CoreState& c = cores_[core];
  PipeState& p = c.pipes[index_of(pipe)];
  bool progress = false;
  while (!p.empty()) {
    const Queued head = p.queue[p.popped % k_.queue_depth];
    const Record& r = (*c.records)[head.record];
    const double ready = std::max(p.free, head.issued);
    double leaves_queue = ready;
    switch (r.kind) {
      case RecordKind::Exec:
        p.free = ready + r.cycles;
        ++use(c, pipe).instructions;
        use(c, pipe).busy_us += k_.microseconds(r.cycles);
        keep(c, pipe, head.record, ready, p.free);
        break;
      case RecordKind::Dma: {
        p.window_full = p.in_flight.size() >= k_.in_flight ||
                        p.bytes_in_flight >= k_.in_flight_bytes;
        if (p.window_full) return progress;
        p.bytes_in_flight += uint64_t{r.row_bytes} * r.rows;
        Transfer t;
        t.record = head.record;
        t.start = ready;
        p.in_flight.push_back(std::move(t));
        p.free = ready + k_.issue;
        ++use(c, pipe).instructions;
        at(ready, EventKind::TransferStart, core, pipe);
        break;
      }
      case RecordKind::SetFlag:
      case RecordKind::CrossSet:
        p.free = ready + k_.flag;
        if (p.in_flight.empty())
          fire(core, r, std::max(p.free, p.done));
        else
          p.in_flight.back().on_done.push_back(head.record);
        break;
      case RecordKind::WaitFlag: {
        FlagSlot& slot = c.flags[flag_index(r)];
        if (slot.empty()) return progress;
        const double set = slot.take();
        leaves_queue = blocked_until(c, pipe, ready, set);
        p.free = leaves_queue + k_.flag;
        if (c.stream < launch_.trace_cores && result_.arrows.size() < launch_.trace_events)
          result_.arrows.push_back({c.stream, r.pipe, r.other, r.event, k_.microseconds(set),
                                    k_.microseconds(leaves_queue)});
        break;
      }
      case RecordKind::CrossWait: {
        CrossChannel& ch = channel(c, r, true);
        uint32_t& round = ch.rounds_taken(c.stream, static_cast<CrossMode>(r.rows));
        if (!ch.complete(round)) {
          ch.waiting.push_back(core);
          return progress;
        }
        leaves_queue = blocked_until(c, pipe, ready, ch.time(round++));
        result_.cores[c.stream].sync_us += k_.microseconds(leaves_queue - ready);
        p.free = leaves_queue + k_.flag;
        break;
      }
      case RecordKind::Barrier:
        if (!p.in_flight.empty()) return progress;
        leaves_queue = std::max(ready, p.done);
        p.free = leaves_queue + k_.barrier;
        break;
      default:
        break;
    }
    if (r.kind != RecordKind::Dma) p.done = std::max(p.done, p.free);
    p.slot_free[p.popped % k_.queue_depth] = leaves_queue;
    ++p.popped;
    progress = true;
  }
  return progress;
}

// ---- transfers --------------------------------------------------------------------------------

double Simulator::link_cycles(const CoreState& c, const Record& r, const Traffic& t,
                              Pipe pipe) const {
  const bool reads = pipe == Pipe::MTE2;
  const double rate = reads ? (c.cube ? k_.aic_read : k_.aiv_read)
                            : (c.cube ? k_.aic_write : k_.aiv_write);
  double cycles = r.cycles + static_cast<double>(t.link) / rate;
  if (r.rows > 1) cycles += r.rows * k_.row;
  if (!reads && (r.flags & kRecordUnaligned) && r.row_bytes % 32 != 0) {
    const double row = r.row_bytes <= k_.sector ? r.row_bytes / k_.unaligned_short
                                                : k_.unaligned_long;
    cycles += r.rows * row;
  }
  return cycles;
}

// Requests queue before a busy HBM, so its latency grows with its load.
double Simulator::read_latency(const Traffic& traffic) const {
  if (!traffic.missed) return k_.read_l2;
  return k_.read_hbm + hbm_server_.load() * (k_.read_hbm_loaded - k_.read_hbm);
}

// True when another transfer that this pipe has started begins in the same line as `t`.
bool Simulator::line_already_open(const CoreState& c, const PipeState& p, const Transfer& t) const {
  const auto line = [&](const Transfer& x) {
    return (*c.records)[x.record].gm_address / k_.sector;
  };
  for (size_t i = 0; i < p.started; ++i)
    if (&p.in_flight[i] != &t && line(p.in_flight[i]) == line(t)) return true;
  return false;
}

void Simulator::transfer_start(uint32_t core, Pipe pipe, double now) {
  CoreState& c = cores_[core];
  PipeState& p = c.pipes[index_of(pipe)];
  Transfer& t = p.in_flight[p.started++];
  const Record& r = (*c.records)[t.record];
  const bool reads = pipe == Pipe::MTE2;
  t.traffic = reads ? l2_.read(r) : l2_.write(r);
  t.ready = now + (reads ? read_latency(t.traffic) : k_.write);
  const uint64_t bytes = uint64_t{r.row_bytes} * r.rows;
  CoreTimes& times = result_.cores[c.stream];
  if (reads) {
    times.read_bytes += bytes;
    result_.gm_read_bytes += bytes;
    result_.l2_read_hit_bytes += t.traffic.hit;
    if (!line_already_open(c, p, t)) ++readers_of_line_[r.gm_address / k_.sector];
  } else {
    times.written_bytes += bytes;
    result_.gm_write_bytes += bytes;
  }
  result_.hbm_read_bytes += t.traffic.hbm_read;
  result_.hbm_write_bytes += t.traffic.hbm_write;
  if (p.started == 1) at(t.ready, EventKind::DataStart, core, pipe);
}

void Simulator::begin_data(uint32_t core, Pipe pipe, double now) {
  CoreState& c = cores_[core];
  Transfer& t = c.pipes[index_of(pipe)].in_flight.front();
  const Record& r = (*c.records)[t.record];
  double cycles = link_cycles(c, r, t.traffic, pipe);
  if (pipe == Pipe::MTE2) {
    // Cores that read the same line at the same time are served one after the other.
    const uint32_t readers = readers_of_line_[r.gm_address / k_.sector];
    if (readers > 1)
      cycles = std::max(cycles, static_cast<double>(t.traffic.link) * readers / k_.same_line);
  }
  t.link_end = now + cycles;
  const uint32_t flow = flow_id(core, pipe);
  const double written = static_cast<double>(t.traffic.hbm_write) * k_.hbm_read / k_.hbm_write;
  t.parts = 0;
  if (t.traffic.hbm_read + t.traffic.hbm_write > 0) {
    ++t.parts;
    hbm_server_.join(now, flow, static_cast<double>(t.traffic.hbm_read), written);
  }
  if (t.traffic.l2 > 0) {
    ++t.parts;
    l2_server_.join(now, flow, static_cast<double>(t.traffic.l2), 0.0);
  }
  if (t.parts == 0) at(t.link_end, EventKind::LinkEnd, core, pipe);
}

void Simulator::data_part_done(uint32_t flow, double now) {
  const uint32_t core = flow / kPipes;
  const auto pipe = static_cast<Pipe>(flow % kPipes);
  Transfer& t = cores_[core].pipes[index_of(pipe)].in_flight.front();
  if (--t.parts > 0) return;
  if (t.link_end > now)
    at(t.link_end, EventKind::LinkEnd, core, pipe);
  else
    transfer_done(core, pipe, now);
}

void Simulator::transfer_done(uint32_t core, Pipe pipe, double now) {
  CoreState& c = cores_[core];
  PipeState& p = c.pipes[index_of(pipe)];
  const Transfer t = std::move(p.in_flight.front());
  p.in_flight.pop_front();
  --p.started;
  p.done = std::max(p.done, now);
  const Record& r = (*c.records)[t.record];
  if (pipe == Pipe::MTE2 && !line_already_open(c, p, t)) {
    const auto line = readers_of_line_.find(r.gm_address / k_.sector);
    if (--line->second == 0) readers_of_line_.erase(line);
  }
  use(c, pipe).busy_us += k_.microseconds(now - std::max(t.start, p.busy_until));
  p.busy_until = now;
  keep(c, pipe, t.record, t.start, now);
  for (uint32_t record : t.on_done) fire(core, (*c.records)[record], now + k_.flag);
  p.bytes_in_flight -= uint64_t{r.row_bytes} * r.rows;
  if (p.window_full) p.free = std::max(p.free, now);
  if (p.started > 0) {
    const double ready = p.in_flight.front().ready;
    if (ready <= now)
      begin_data(core, pipe, now);
    else
      at(ready, EventKind::DataStart, core, pipe);
  }
  run_core(core, now);
}

// ---- loop -------------------------------------------------------------------------------------

std::string Simulator::describe_stall() const {
  static constexpr const char* kNames[] = {"S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX"};
  for (const CoreState& c : cores_) {
    if (!c.active) continue;
    const std::string where = "block " + std::to_string(c.stream / group_size_) + " (stream " +
                              std::to_string(c.stream) + ")";
    for (size_t p = 0; p < kPipes; ++p) {
      const PipeState& pipe = c.pipes[p];
      if (pipe.empty()) continue;
      const Record& r = (*c.records)[pipe.queue[pipe.popped % k_.queue_depth].record];
      if (r.kind == RecordKind::WaitFlag || r.kind == RecordKind::CrossWait)
        return where + " waits on pipe " + kNames[p] + " for flag " + std::to_string(r.event) +
               " that nothing sets";
    }
    return where + " waits for other cores";
  }
  return "no core could go on";
}

Timeline Simulator::run() {
  prepare();
  while (finished_ < groups_ * group_size_) {
    while (!wake_.empty()) {
      const uint32_t core = wake_.back();
      wake_.pop_back();
      run_core(core, 0);
    }
    const double next_event = events_.empty() ? kNever : events_.top().time;
    const double hbm = hbm_server_.next_completion();
    const double l2 = l2_server_.next_completion();
    const double now = std::min({next_event, hbm, l2});
    if (now == kNever) {
      result_.stall = describe_stall();
      break;
    }
    if (hbm == now) {
      data_part_done(hbm_server_.complete(now), now);
    } else if (l2 == now) {
      data_part_done(l2_server_.complete(now), now);
    } else {
      const Event event = events_.top();
      events_.pop();
      switch (event.kind) {
        case EventKind::CoreStart: start_core(event.core, now); break;
        case EventKind::CoreEnd: end_core(event.core, now); break;
        case EventKind::TransferStart: transfer_start(event.core, event.pipe, now); break;
        case EventKind::DataStart: begin_data(event.core, event.pipe, now); break;
        case EventKind::LinkEnd: transfer_done(event.core, event.pipe, now); break;
      }
    }
  }
  result_.launch_us = k_.microseconds(k_.launch_base);
  result_.total_us = k_.microseconds(k_.launch_base + last_end_);
  result_.footprint_read_bytes = l2_.footprint_read_bytes();
  result_.footprint_write_bytes = l2_.footprint_write_bytes();
  return std::move(result_);
}

}  // namespace

Timeline simulate(std::span<const std::vector<Record>> streams, const Constants& constants,
                  const LaunchInfo& launch) {
  return Simulator(streams, constants, launch).run();
}

}  // namespace npuforge
