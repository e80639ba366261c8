// SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "advice.h"
#include "timeline_output.h"

namespace npuforge {

namespace {

constexpr uint32_t kTracedCores = 4;  // a trace of every core is too large to look at

}  // namespace

std::string simulate_launch(Launch& launch, const std::string& name, const std::string& constants,
                            const std::string& trace) {
    std::vector<std::vector<Record>> streams;
    streams.reserve(launch.cores.size());
    for (auto& core : launch.cores) streams.push_back(std::move(core->records));
    const Constants chip = Constants::from(ConstantsFile::load(constants));
    LaunchInfo info;
    info.kernel = name;
    info.block_num = static_cast<uint32_t>(launch.blocks);
    info.trace_cores = trace.empty() ? 0 : kTracedCores;
    const Timeline timeline = simulate(streams, chip, info);
    if (!timeline.stall.empty()) throw std::runtime_error(timeline.stall);
    advise(streams, chip, timeline);
    if (!trace.empty()) {
        std::ofstream out(trace);
        write_trace(out, timeline, info, streams, costs().op_names(), {});
    }
    std::ostringstream summary;
    write_summary(summary, timeline, chip, info);
    return summary.str();
}

}  // namespace npuforge
