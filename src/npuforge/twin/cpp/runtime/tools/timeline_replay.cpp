// SPDX-License-Identifier: Apache-2.0
// Replays recorded instruction streams: timeline_replay CONSTANTS RECORDS [option value]...
//   --kernel NAME  --type vector|cube|mix  --blocks N  --l2 cold|warm
//   --trace FILE  --trace-cores N  --trace-events N
// RECORDS: uint64 number of streams, then for each a uint64 count and that many Records; after
// them, lines of text: the op names, by id. The summary goes to standard output.
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>

#include "../timeline_output.h"

namespace npuforge {
namespace {

struct Recording {
  std::vector<std::vector<Record>> streams;
  std::vector<std::string> op_names;
};

Recording read_recording(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  uint64_t left = static_cast<uint64_t>(file.tellg());
  file.seekg(0);
  const auto read = [&](void* into, uint64_t bytes) {
    if (bytes > left || !file.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes)))
      throw std::runtime_error(path + " is cut short");
    left -= bytes;
  };
  uint64_t streams = 0;
  read(&streams, sizeof streams);
  Recording recording;
  for (uint64_t s = 0; s < streams; ++s) {
    uint64_t count = 0;
    read(&count, sizeof count);
    if (count > left / sizeof(Record)) throw std::runtime_error(path + " is cut short");
    auto& stream = recording.streams.emplace_back(count);
    read(stream.data(), count * sizeof(Record));
    for (const Record& r : stream)
      if (r.kind > RecordKind::Scalar || r.pipe > Pipe::Count || r.other > Pipe::Count)
        throw std::runtime_error(path + " holds something that is not a record");
  }
  for (std::string line; std::getline(file, line);) recording.op_names.push_back(line);
  return recording;
}

int replay(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0)
    throw std::runtime_error("usage: timeline_replay CONSTANTS RECORDS [option value]...");
  std::map<std::string, std::string> options = {{"--kernel", "kernel"}, {"--type", "vector"},
                                                {"--blocks", "0"},      {"--l2", "cold"},
                                                {"--trace", ""},        {"--trace-cores", "4"},
                                                {"--trace-events", "200000"}};
  for (int i = 3; i < argc; i += 2) {
    if (!options.contains(argv[i])) throw std::runtime_error(std::string("unknown option ") + argv[i]);
    options[argv[i]] = argv[i + 1];
  }
  const Constants constants = Constants::from(ConstantsFile::load(argv[1]));
  const Recording recording = read_recording(argv[2]);
  const std::map<std::string, LaunchType> types = {
      {"vector", LaunchType::Vector}, {"cube", LaunchType::Cube}, {"mix", LaunchType::Mix}};
  const std::map<std::string, L2State> states = {{"cold", L2State::Cold}, {"warm", L2State::Warm}};
  if (!types.contains(options["--type"]) || !states.contains(options["--l2"]))
    throw std::runtime_error("--type is vector, cube or mix; --l2 is cold or warm");
  LaunchInfo launch;
  launch.kernel = options["--kernel"];
  launch.type = types.at(options["--type"]);
  launch.l2 = states.at(options["--l2"]);
  const auto blocks = static_cast<uint32_t>(std::stoul(options["--blocks"]));
  launch.block_num = blocks > 0 ? blocks : static_cast<uint32_t>(recording.streams.size());
  if (!options["--trace"].empty()) {
    launch.trace_cores = static_cast<uint32_t>(std::stoul(options["--trace-cores"]));
    launch.trace_events = std::stoull(options["--trace-events"]);
  }
  const Timeline timeline = simulate(recording.streams, constants, launch);
  write_summary(std::cout, timeline, constants, launch);
  if (!options["--trace"].empty()) {
    std::ofstream trace(options["--trace"]);
    write_trace(trace, timeline, launch, recording.streams, recording.op_names, {});
    if (!trace.flush()) throw std::runtime_error("cannot write " + options["--trace"]);
  }
  return 0;
}

}  // namespace
}  // namespace npuforge

int main(int argc, char** argv) {
  try {
    return npuforge::replay(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "timeline_replay: " << error.what() << "\n";
    return 2;
  }
}
