// SPDX-License-Identifier: Apache-2.0
// One process, one session: its settings, the launches it makes, and the result file it leaves.
// The runner makes one launch from a plan; a direct-launch program or a Python extension makes many.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core.h"

namespace npuforge {

struct SessionSettings {
    std::string mode = "run";  // run, check, time (data-free), timed (with data)
    std::string constants;     // the chip's flat constants file
    std::string result;        // where result.json goes; empty: nowhere
    std::string trace;         // Chrome trace of the last launch; empty: none
    bool auto_sync = true;
    uint64_t seed = 1;         // of fake values in a data-free run
};

// Sets the session up; called once, before the first launch.
void open_session(const SessionSettings& settings);
// The settings of an embedded session come from the environment (NPUFORGE_MODE, NPUFORGE_CONSTANTS,
// NPUFORGE_RESULT, NPUFORGE_TRACE, NPUFORGE_AUTO_SYNC, NPUFORGE_SEED).
void open_session_from_environment();
const SessionSettings& session();

// Runs one kernel over all its blocks and adds its outcome to the session's result. Returns false
// when the launch did not end normally (deadlock, device assert, misuse); the reason is in the result.
bool run_launch(Launch& launch, const std::string& name, const std::function<void()>& body);

// Modelled time of all launches so far, in microseconds; 0 in a session that does not model time.
double modelled_us();

// Writes result.json. Also called when the process dies by a signal.
void close_session(const std::string& error);

// GM as the device sees it: page-aligned, padded, followed by an unmapped page. Data-free sessions
// reserve addresses only.
GmBuffer map_gm(const std::string& name, uint64_t bytes, const std::string& file, bool writable, bool initialised,
                bool always_data);
void unmap_gm(const GmBuffer& buffer);

}  // namespace npuforge
