// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>

#include "launch.h"
#include "report.h"
#include "timing.h"

namespace npuforge {

namespace {

struct Outcome {
    std::string name, error;
    int blocks = 0;
    bool value_read = false;
    uint64_t stream_hash = 0;
    std::string timing;  // JSON object, empty when not timed
};

SessionSettings g_settings;
std::vector<Outcome> g_outcomes;
std::optional<CostTable> g_costs;
bool g_closed = false;

// A stream's identity: what was issued in which order, not where it came from.
uint64_t hash_streams(const Launch& launch) {
    uint64_t hash = 1469598103934665603ull;
    const auto mix = [&](uint64_t v) { hash = (hash ^ v) * 1099511628211ull; };
    for (const auto& core : launch.cores) {
        mix(core->records.size());
        for (const Record& r : core->records) {
            mix(uint64_t(r.kind) | uint64_t(r.pipe) << 8 | uint64_t(r.other) << 16 | uint64_t(r.op) << 32);
            mix(uint64_t(r.row_bytes) << 32 | r.rows);
            mix(r.cycles);
        }
    }
    return hash;
}

void write_site(JsonWriter& json, const char* key, uint32_t site) {
    json.key(key);
    json.open('[');
    for (const uintptr_t address : site_frames(site)) {
        if (address == 0) break;
        Dl_info info;
        json.open('{');
        json.key("address");
        if (dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_fname != nullptr) {
            // A return address points behind the call.
            json.integer(static_cast<int64_t>(address - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase)));
            json.key("object");
            json.string(info.dli_fname);
        } else {
            json.integer(static_cast<int64_t>(address - 1));
            json.key("object");
            json.string("");
        }
        json.close('}');
    }
    json.close(']');
}

void write_findings(JsonWriter& json) {
    json.key("findings");
    json.open('[');
    for (const Finding& f : findings()) {
        json.open('{');
        json.key("rule");
        json.string(f.rule);
        json.key("message");
        json.string(f.message);
        if (!f.severity.empty()) {
            json.key("severity");
            json.string(f.severity);
        }
        json.key("core");
        json.integer(f.core);
        json.key("count");
        json.integer(static_cast<int64_t>(f.count));
        if (f.cycles_lost != 0) {
            json.key("cycles_lost");
            json.integer(static_cast<int64_t>(f.cycles_lost));
        }
        write_site(json, "site", f.site);
        if (!f.pipe.empty()) {
            json.key("pipe");
            json.string(f.pipe);
            json.key("other_pipe");
            json.string(f.other_pipe);
            write_site(json, "other_site", f.other_site);
        }
        json.close('}');
    }
    json.close(']');
}

// Where the interrupted code was, and whether it was writing.
struct Fault {
    uint32_t site = 0;
    bool write = false;
};

Fault fault_of(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    constexpr long long kWrite = 2;  // of the page fault's error code
    return {intern_fault_site(static_cast<uintptr_t>(machine.gregs[REG_RIP]), static_cast<uintptr_t>(machine.gregs[REG_RBP])),
            (machine.gregs[REG_ERR] & kWrite) != 0};
#elif defined(__aarch64__)
    constexpr int kFramePointer = 29;
    return {intern_fault_site(machine.pc, machine.regs[kFramePointer]), false};
#else
    return {};
#endif
}

void on_signal(int number, siginfo_t* info, void* context) {
    // A data-free run keeps tensor memory unmapped; code that reads it through a raw pointer ends up
    // here. It gets the page and the run is marked as depending on data.
    if (number == SIGSEGV && g_launch != nullptr && (g_mode & kNoData)) {
        auto* page = reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(info->si_addr) / 4096 * 4096);
        for (const GmBuffer& b : g_launch->gm) {
            if (page >= b.base && page < b.base + b.capacity) {
                g_launch->value_read = true;
                if (mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0) return;
            }
        }
    }
    const bool memory = number == SIGSEGV || number == SIGBUS;
    const char* what = memory              ? "the kernel accessed memory it does not own"
                       : number == SIGFPE  ? "the kernel divided an integer by zero"
                       : number == SIGABRT ? "the program aborted"
                                           : "the program was ended by a signal";
    if (g_core != nullptr && memory) {
        const Fault fault = fault_of(context);
        const bool null = reinterpret_cast<uintptr_t>(info->si_addr) < 4096;
        Finding finding;
        finding.rule = null ? "MEM-11" : fault.write ? "MEM-05" : "MEM-04";
        finding.message = null ? "a pointer that is null is followed" : "a pointer outside of every tensor of the launch is followed";
        finding.site = fault.site;
        add_finding(std::move(finding));
    }
    close_session(what);
    _exit(70);
}

void catch_signals() {
    static uint8_t stack[1 << 16];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) sigaction(number, &action, nullptr);
}

}  // namespace

CostTable& costs() { return *g_costs; }
const SessionSettings& session() { return g_settings; }

void open_session(const SessionSettings& settings) {
    g_settings = settings;
    if (settings.mode == "run") g_mode = 0;
    else if (settings.mode == "check") g_mode = kCheck;
    else if (settings.mode == "time") g_mode = kTime | kNoData;
    else if (settings.mode == "timed") g_mode = kTime;
    else throw std::runtime_error("unknown mode " + settings.mode);
    g_costs.emplace(CostTable::load(settings.constants));
    catch_signals();
}

void open_session_from_environment() {
    const auto text = [](const char* name, const char* otherwise) {
        const char* value = std::getenv(name);
        return std::string(value != nullptr ? value : otherwise);
    };
    SessionSettings s;
    s.mode = text("NPUFORGE_MODE", "run");
    s.constants = text("NPUFORGE_CONSTANTS", "");
    s.result = text("NPUFORGE_RESULT", "");
    s.trace = text("NPUFORGE_TRACE", "");
    s.auto_sync = text("NPUFORGE_AUTO_SYNC", "1") != "0";
    s.seed = std::strtoull(text("NPUFORGE_SEED", "1").c_str(), nullptr, 10);
    open_session(s);
}

bool run_launch(Launch& launch, const std::string& name, const std::function<void()>& body) {
    launch.auto_sync = g_settings.auto_sync;
    launch.seed = g_settings.seed;
    Outcome outcome;
    outcome.name = name;
    outcome.blocks = launch.blocks;
    try {
        run_blocks(launch, body);
        if (g_mode & kTime) {
            outcome.stream_hash = hash_streams(launch);
            outcome.timing = simulate_launch(launch, name, g_settings.constants, g_settings.trace);
        }
    } catch (const std::exception& problem) {
        outcome.error = problem.what();
    }
    outcome.value_read = launch.value_read;
    const bool ended = outcome.error.empty();
    g_outcomes.push_back(std::move(outcome));
    return ended;
}

double modelled_us() {
    static const std::string key = "\"total_us\":";
    double total = 0;
    for (const Outcome& o : g_outcomes) {
        const size_t at = o.timing.find(key);
        if (at != std::string::npos) total += std::strtod(o.timing.c_str() + at + key.size(), nullptr);
    }
    return total;
}

void close_session(const std::string& error) {
    if (g_closed || g_settings.result.empty()) return;
    g_closed = true;
    JsonWriter json;
    json.open('{');
    json.key("error");
    json.string(error);
    json.key("launches");
    json.open('[');
    std::string body;
    for (const Outcome& o : g_outcomes) {
        json.open('{');
        json.key("name");
        json.string(o.name);
        json.key("blocks");
        json.integer(o.blocks);
        json.key("error");
        json.string(o.error);
        json.key("value_read");
        json.boolean(o.value_read);
        json.key("stream_hash");
        json.string(std::to_string(o.stream_hash));
        if (!o.timing.empty()) {
            json.key("timing");
            json.raw(o.timing);
        }
        json.close('}');
    }
    json.close(']');
    write_findings(json);
    json.close('}');
    if (std::FILE* out = std::fopen(g_settings.result.c_str(), "w")) {
        std::fwrite(json.text().data(), 1, json.text().size(), out);
        std::fclose(out);
    }
}

GmBuffer map_gm(const std::string& name, uint64_t bytes, const std::string& file, bool writable, bool initialised,
                bool always_data) {
    constexpr uint64_t kPage = 4096;
    GmBuffer buffer;
    buffer.name = name;
    buffer.bytes = bytes;
    buffer.writable = writable;
    buffer.initialised = initialised;
    // Device allocations are rounded up to 32 B and padded by another 32 B.
    buffer.capacity = (bytes + 31) / 32 * 32 + 32;
    const uint64_t pages = (buffer.capacity + kPage - 1) / kPage * kPage;
    const bool data = always_data || (g_mode & kNoData) == 0;
    void* region = mmap(nullptr, pages + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) throw std::runtime_error("no address space for tensor " + name);
    buffer.base = static_cast<uint8_t*>(region);
    if (!data) return buffer;
    if (mprotect(region, pages, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("no memory for tensor " + name);
    if (file.empty()) {
        // Memory nobody wrote holds garbage on a device.
        std::memset(buffer.base, initialised ? 0 : 0xff, buffer.capacity);
        return buffer;
    }
    const int fd = open(file.c_str(), writable ? O_RDWR : O_RDONLY);
    if (fd < 0) throw std::runtime_error("cannot open " + file);
    struct stat status{};
    fstat(fd, &status);
    if (static_cast<uint64_t>(status.st_size) < bytes) {
        close(fd);
        throw std::runtime_error("tensor " + name + " needs " + std::to_string(bytes) + " B, its file has fewer");
    }
    if (bytes > 0) {
        const int sharing = writable ? MAP_SHARED : MAP_PRIVATE;
        if (mmap(region, bytes, PROT_READ | PROT_WRITE, sharing | MAP_FIXED, fd, 0) == MAP_FAILED) {
            close(fd);
            throw std::runtime_error("cannot map " + file);
        }
    }
    close(fd);
    return buffer;
}

void unmap_gm(const GmBuffer& buffer) {
    constexpr uint64_t kPage = 4096;
    munmap(buffer.base, (buffer.capacity + kPage - 1) / kPage * kPage + kPage);
}

}  // namespace npuforge
