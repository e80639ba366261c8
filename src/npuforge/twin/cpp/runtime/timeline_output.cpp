// SPDX-License-Identifier: Apache-2.0
#include "timeline_output.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <set>
#include <utility>

namespace npuforge {
namespace {

constexpr const char* kShort[kPipes] = {"S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX"};
// As the vendor's profiler and MindStudio Insight label them.
constexpr const char* kTrack[kPipes] = {"SCALAR", "VECTOR", "MTE2", "MTE3",
                                        "MTE1",   "CUBE",   "FIXP"};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  // snprintf follows the C locale of the process; JSON wants a point.
  std::replace(text, text + sizeof text, ',', '.');
  return text;
}

std::string precise(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4f", value);
  std::replace(text, text + sizeof text, ',', '.');
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      result += escape;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

// Two vector cores share a physical core with one cube core.
std::string core_name(uint32_t stream, const CoreTimes& core, const LaunchInfo& launch) {
  if (launch.type == LaunchType::Mix) {
    const uint32_t group = 1 + launch.vectors_per_cube;
    const std::string prefix = "core" + std::to_string(stream / group);
    if (core.cube) return prefix + ".cubecore0";
    return prefix + ".veccore" + std::to_string(stream % group - 1);
  }
  if (core.cube) return "core" + std::to_string(stream) + ".cubecore0";
  return "core" + std::to_string(stream / 2) + ".veccore" + std::to_string(stream % 2);
}

void write_pipes(std::ostream& out, const std::array<PipeUse, kPipes>& pipes) {
  out << "{";
  const char* comma = "";
  for (size_t p = 0; p < kPipes; ++p) {
    if (pipes[p].instructions == 0 && pipes[p].busy_us == 0 && pipes[p].wait_us == 0) continue;
    out << comma << "\"" << kShort[p] << "\":{\"busy_us\":" << number(pipes[p].busy_us)
        << ",\"wait_us\":" << number(pipes[p].wait_us)
        << ",\"instructions\":" << pipes[p].instructions << "}";
    comma = ",";
  }
  out << "}";
}

const std::string& name_of(const Record& r, const std::vector<std::string>& op_names) {
  static const std::string unknown = "?";
  return r.op < op_names.size() ? op_names[r.op] : unknown;
}

}  // namespace

void write_summary(std::ostream& out, const Timeline& timeline, const Constants& constants,
                   const LaunchInfo& launch) {
  out << "{\"kernel\":" << quoted(launch.kernel) << ",\"block_num\":" << launch.block_num
      << ",\"clock_mhz\":" << number(constants.mhz)
      << ",\"stall\":" << (timeline.stall.empty() ? "null" : quoted(timeline.stall))
      << ",\"total_us\":" << precise(timeline.total_us)
      << ",\"launch_us\":" << number(timeline.launch_us)
      << ",\"skew_us\":" << number(timeline.skew_us)
      << ",\"gm_read_bytes\":" << timeline.gm_read_bytes
      << ",\"gm_write_bytes\":" << timeline.gm_write_bytes
      << ",\"l2_read_hit_bytes\":" << timeline.l2_read_hit_bytes
      << ",\"hbm_read_bytes\":" << timeline.hbm_read_bytes
      << ",\"hbm_write_bytes\":" << timeline.hbm_write_bytes
      << ",\"footprint_read_bytes\":" << timeline.footprint_read_bytes
      << ",\"footprint_write_bytes\":" << timeline.footprint_write_bytes << ",\"cores\":[";
  const char* comma = "";
  for (const CoreTimes& core : timeline.cores) {
    out << comma << "{\"cube\":" << (core.cube ? "true" : "false")
        << ",\"start_us\":" << number(core.start_us) << ",\"end_us\":" << precise(core.end_us)
        << ",\"sync_us\":" << number(core.sync_us) << ",\"read_bytes\":" << core.read_bytes
        << ",\"written_bytes\":" << core.written_bytes << ",\"pipes\":";
    write_pipes(out, core.pipes);
    out << "}";
    comma = ",\n";
  }
  out << "]}\n";
}

void write_trace(std::ostream& out, const Timeline& timeline, const LaunchInfo& launch,
                 std::span<const std::vector<Record>> streams,
                 const std::vector<std::string>& op_names, const std::vector<std::string>& sites) {
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const char* comma = "";
  std::set<std::pair<uint32_t, Pipe>> tracks;
  for (const Interval& i : timeline.intervals) tracks.insert({i.stream, i.pipe});
  uint32_t named = 0xffffffff;
  for (const auto& [stream, pipe] : tracks) {
    if (stream != named) {
      named = stream;
      out << comma << "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" << stream
          << ",\"args\":{\"name\":"
          << quoted(core_name(stream, timeline.cores[stream], launch)) << "}}";
      comma = ",\n";
    }
    const auto p = static_cast<size_t>(pipe);
    out << ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" << stream << ",\"tid\":" << p
        << ",\"args\":{\"name\":\"" << kTrack[p] << "\"}}";
    out << ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":" << stream
        << ",\"tid\":" << p << ",\"args\":{\"sort_index\":" << p << "}}";
  }
  for (const Interval& i : timeline.intervals) {
    const Record& r = streams[i.stream][i.record];
    out << comma << "{\"ph\":\"X\",\"name\":" << quoted(name_of(r, op_names))
        << ",\"pid\":" << i.stream << ",\"tid\":" << static_cast<size_t>(i.pipe)
        << ",\"ts\":" << precise(i.start_us) << ",\"dur\":" << precise(i.end_us - i.start_us)
        << ",\"args\":{\"code\":";
    if (r.site < sites.size() && !sites[r.site].empty())
      out << quoted(sites[r.site]);
    else
      out << "\"site " << r.site << "\"";
    if (r.kind == RecordKind::Dma && i.pipe != Pipe::S)
      out << ",\"bytes\":" << uint64_t{r.row_bytes} * r.rows << ",\"rows\":" << r.rows
          << ",\"gm_address\":\"" << r.gm_address << "\"";
    if (r.kind == RecordKind::Exec && i.pipe != Pipe::S) out << ",\"cycles\":" << r.cycles;
    out << "}}";
    comma = ",\n";
  }
  size_t arrow = 0;
  for (const FlagArrow& a : timeline.arrows) {
    const std::string name =
        std::string(kShort[static_cast<size_t>(a.from)]) + "_" + kShort[static_cast<size_t>(a.to)];
    const std::string common = "\"name\":\"" + name + "\",\"cat\":\"flag\",\"id\":" +
                               std::to_string(++arrow) + ",\"pid\":" + std::to_string(a.stream) +
                               ",\"args\":{\"event\":" + std::to_string(a.event) + "}";
    out << comma << "{\"ph\":\"s\"," << common << ",\"tid\":" << static_cast<size_t>(a.from)
        << ",\"ts\":" << precise(a.set_us) << "},\n{\"ph\":\"f\",\"bp\":\"e\"," << common
        << ",\"tid\":" << static_cast<size_t>(a.to) << ",\"ts\":" << precise(a.wait_us) << "}";
    comma = ",\n";
  }
  out << "\n]}\n";
}

}  // namespace npuforge
