// SPDX-License-Identifier: Apache-2.0
// Fibers: every block runs until it waits for another core or polls memory; nobody able to go on is a
// deadlock.
#include "launch.h"

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>

#include "../npu/abi_more.h"
#include "check.h"
#include "crosscore.h"
#include "report.h"

namespace npuforge {

uint32_t g_mode = 0;
Launch* g_launch = nullptr;
Core* g_core = nullptr;

namespace {

constexpr size_t kStackBytes = 2u << 20;
constexpr uint32_t kSpaceBytes[8] = {0, 192u << 10, 512u << 10, 64u << 10, 64u << 10, 128u << 10, 1u << 10, 7u << 10};

// A polling loop reads few places, many times.
constexpr uint32_t kPlacesOfALoop = 64;
constexpr uint32_t kTimesUntilTurn = 256;
constexpr uint32_t kTurnsWithoutData = 256;

ucontext_t g_scheduler;
const std::function<void()>* g_body = nullptr;
std::string g_stop_reason;

void fiber_main() {
    Core& core = *g_core;
    if (g_mode & kCheck) check_core_begin(core);
    (*g_body)();
    if (g_mode & kCheck) check_core_end(core);
    core.fiber.done = true;
    swapcontext(&core.fiber.context, &g_scheduler);
}

void prepare_memory(Core& core) {
    // Alignment keeps UB addresses equal to offsets modulo the bank layout.
    size_t total = 4096;
    for (const uint32_t bytes : kSpaceBytes) total += (bytes + 4095) / 4096 * 4096;
    core.memory = std::make_unique_for_overwrite<uint8_t[]>(total);
    auto at = (reinterpret_cast<uintptr_t>(core.memory.get()) + 4095) / 4096 * 4096;
    for (int s = 1; s < 8; ++s) {
        core.spaces[s] = reinterpret_cast<uint8_t*>(at);
        at += (kSpaceBytes[s] + 4095) / 4096 * 4096;
    }
    // Stale data: a pattern that is a NaN in every floating type, so that using it shows.
    if ((g_mode & kNoData) == 0) std::memset(core.memory.get(), 0xff, total);
}

void prepare_fiber(Core& core) {
    Fiber& fiber = core.fiber;
    fiber.stack_bytes = kStackBytes;
    void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) throw std::runtime_error("no memory for a core's stack");
    mprotect(stack, 4096, PROT_NONE);
    fiber.stack = static_cast<uint8_t*>(stack);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &g_scheduler;
    makecontext(&fiber.context, fiber_main, 0);
}

void resume(Core& core) {
    g_core = &core;
    core.fiber.started = true;
    swapcontext(&g_scheduler, &core.fiber.context);
    g_core = nullptr;
}

void release(Core& core) {
    munmap(core.fiber.stack, core.fiber.stack_bytes);
    core.fiber.stack = nullptr;
    core.memory.reset();
}

// Everybody left waits. Somebody waiting for a core that has ended, or a circle, is told apart from a
// wait nobody was ever going to satisfy by whether other cores are involved.
void report_deadlock(Launch& launch) {
    std::string ended;
    for (auto& core : launch.cores)
        if (core->fiber.done) ended += (ended.empty() ? "" : ", ") + std::to_string(core->index);
    const std::string others = ended.empty() ? "every other core waits as well"
                                             : "core " + ended + " has ended and the others wait as well";
    for (auto& core : launch.cores) {
        if (core->fiber.done) continue;
        g_core = core.get();
        const bool alone = launch.cores.size() == 1;
        report_at(core->fiber.waiting_site, alone ? "SYNC-20" : "SYNC-21", "the kernel hangs: core %d waits for %s; %s",
                  core->index, core->fiber.waiting_for.c_str(), alone ? "there is no other core" : others.c_str());
        g_core = nullptr;
    }
    throw std::runtime_error("deadlock");
}

}  // namespace

uint32_t local_capacity(Space space) { return kSpaceBytes[static_cast<int>(space)]; }
uint8_t* local_memory(Space space) { return g_core->spaces[static_cast<int>(space)]; }

void block_fiber(Core& core, std::string waiting_for) {
    core.fiber.blocked = true;
    core.fiber.waiting_for = std::move(waiting_for);
    core.fiber.waiting_site = NPUFORGE_SITE();
    swapcontext(&core.fiber.context, &g_scheduler);
}

void note_gm_read(const void* place) {
    Polling& polling = g_core->polling;
    if (place != polling.place) {
        if (++polling.elsewhere > kPlacesOfALoop) polling = {place, 0, 0, 0};
        return;
    }
    polling.elsewhere = 0;
    if (++polling.times < kTimesUntilTurn) return;
    polling.times = 0;
    // Without data what a polling loop waits for never appears.
    if (++polling.turns > kTurnsWithoutData && (g_mode & kNoData) && g_launch->value_read)
        stop_launch("the kernel polls memory");
    swapcontext(&g_core->fiber.context, &g_scheduler);
}

void unblock_fiber(Core& core) { core.fiber.blocked = false; }

void stop_launch(const std::string& reason) {
    g_stop_reason = reason;
    g_core->fiber.done = true;
    swapcontext(&g_core->fiber.context, &g_scheduler);
    __builtin_unreachable();
}

void run_blocks(Launch& launch, const std::function<void()>& body) {
    g_launch = &launch;
    g_body = &body;
    reset_cross_core();
    g_stop_reason.clear();
    if (launch.cores.empty()) {
        for (int i = 0; i < launch.blocks; ++i) {
            launch.cores.push_back(std::make_unique<Core>());
            launch.cores.back()->index = i;
        }
    }
    if (g_mode & kCheck) check_launch_begin(launch);
    // Memory and stacks exist only while a block runs, so any number of blocks fits.
    bool progress = true, all_done = false;
    while (progress && !all_done) {
        progress = false;
        all_done = true;
        for (auto& owned : launch.cores) {
            Core& core = *owned;
            if (core.fiber.done) continue;
            if (core.fiber.blocked) {
                all_done = false;
                continue;
            }
            if (!core.fiber.started) {
                prepare_memory(core);
                prepare_fiber(core);
            }
            resume(core);
            progress = true;
            if (!g_stop_reason.empty()) {
                g_launch = nullptr;
                throw std::runtime_error(g_stop_reason);
            }
            if (core.fiber.done) release(core);
            else all_done = false;
        }
    }
    if (!all_done) report_deadlock(launch);
    if (g_mode & kCheck) {
        finish_cross_core();
        check_launch_end(launch);
    }
    g_launch = nullptr;
}

int64_t block_index() { return g_core->index; }
int64_t block_count() { return g_launch->blocks; }
int64_t sub_block_index() { return g_core->sub_block; }
int64_t vectors_per_group() {
    for (const auto& core : g_launch->cores)
        if (core->cube) return 2;
    return 1;
}
bool is_aiv() { return !g_core->cube; }
uint64_t tiling_key() { return g_launch->key; }
uint8_t* system_workspace() { return g_launch->workspace; }
void add_scalar_cycles(uint32_t cycles) { g_core->scalar_cycles += cycles; }

void copy_tiling(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace npuforge
