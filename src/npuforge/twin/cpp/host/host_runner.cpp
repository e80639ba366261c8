// SPDX-License-Identifier: Apache-2.0
// Loads an operator's host library and answers in JSON on standard output. The library takes the
// functions of our host headers from this program, which therefore exports its symbols.
//
//   host_runner describe host.so             operators and tiling structures it registers
//   host_runner tiling host.so request.txt   what its tiling answers (format: runner/request.h)
//
// The library runs in a child process with its output captured, so a crash, an exception or a
// chatty tiling function becomes part of the answer: "status" is ok, failed (the function said
// so), exception, crashed, bad_request or unloadable. The exit status is 0 whenever an answer was
// printed and 2 for a wrong command line.

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "npuforge_host/standard.h"
#include "runner/library.h"
#include "runner/tiling.h"

namespace {

using npuforge::host::Json;
using npuforge::host::Registry;

int g_answer = -1;           // the child's end of the answer pipe
uintptr_t g_library_at = 0;  // load address of the host library

void WriteAll(int fd, const std::string& text) {
    size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = write(fd, text.data() + done, text.size() - done);
        if (count <= 0) return;
        done += static_cast<size_t>(count);
    }
}

// Drains both pipes until the child has closed them; what exceeds the limit of `log` is dropped.
void Collect(int answer_fd, int log_fd, std::string& answer, std::string& log) {
    constexpr size_t kLogLimit = 1 << 20;
    pollfd sources[] = {{answer_fd, POLLIN, 0}, {log_fd, POLLIN, 0}};
    std::string* const texts[] = {&answer, &log};
    int open = 2;
    char buffer[65536];
    while (open > 0 && poll(sources, 2, -1) >= 0) {
        for (int i = 0; i < 2; ++i) {
            if (sources[i].fd < 0 || sources[i].revents == 0) continue;
            const ssize_t count = read(sources[i].fd, buffer, sizeof(buffer));
            if (count <= 0) {
                sources[i].fd = -1;
                --open;
            } else if (i == 0 || log.size() < kLogLimit) {
                texts[i]->append(buffer, count);
            }
        }
    }
}

// Sends the call stack as offsets into the host library, then dies of the signal as before.
void OnCrash(int signal) {
    void* frames[64];
    const int count = backtrace(frames, 64);
    char line[32];
    for (int i = 0; i < count; ++i) {
        const uintptr_t address = reinterpret_cast<uintptr_t>(frames[i]);
        if (g_library_at == 0 || address < g_library_at) continue;
        const int length = std::snprintf(line, sizeof(line), "\n@%lx",
                                         static_cast<unsigned long>(address - g_library_at));
        if (write(g_answer, line, length) != length) break;
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void CatchCrashes() {
    static char stack[64 * 1024];
    stack_t alternative = {};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof(stack);
    sigaltstack(&alternative, nullptr);
    void* warm_up[1];
    backtrace(warm_up, 1);  // loads the unwinder now rather than inside the handler
    struct sigaction action = {};
    action.sa_handler = OnCrash;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        sigaction(signal, &action, nullptr);
    }
}

std::string Problem(const char* status, const std::string& message) {
    Json json;
    json.Open('{').Key("status").Value(status).Key("message").Value(message);
    return json.Text();
}

bool Load(const char* path, std::string& error) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        error = dlerror();
        return false;
    }
    struct link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) g_library_at = map->l_addr;
    return true;
}

// Tiling first, so that a fault of inference cannot hide it: on the device, too, a call that brings
// its outputs runs no inference. Only a request without outputs has to infer them beforehand.
void Tile(const Registry& registry, const char* request_path, Json& json) {
    const auto request = npuforge::host::ParseRequest(request_path);
    npuforge::host::TilingRun run(registry, request);
    const bool infer_first = run.NeedsInference();
    if (infer_first) run.Infer();
    run.Tile(json);
    std::string problem;
    if (!infer_first) {
        WriteAll(g_answer, json.Text());
        json.Forget();
        try {
            run.Infer();
        } catch (const std::exception& fault) {
            problem = fault.what();
        }
    }
    run.WriteInference(json, problem);
}

// Writes the answer as an object without its closing brace; the parent adds the captured output.
void Answer(const std::string& command, const char* library, const char* request_path) {
    std::string error;
    if (!Load(library, error)) {
        WriteAll(g_answer, Problem("unloadable", error));
        return;
    }
    const Registry& registry = npuforge::host::TheRegistry();
    Json json;
    json.Open('{');
    try {
        if (command == "describe") {
            npuforge::host::Describe(json, registry);
            json.Key("status").Value("ok");
        } else {
            Tile(registry, request_path, json);
        }
        WriteAll(g_answer, json.Text());
    } catch (const npuforge::host::BadRequest& problem) {
        WriteAll(g_answer, Problem("bad_request", problem.what()));
    } catch (const std::exception& problem) {
        WriteAll(g_answer, Problem("exception", problem.what()));
    }
}

std::string Cause(int status) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    switch (signal) {
        case 0: return "exit " + std::to_string(WEXITSTATUS(status));
        case SIGSEGV: return "SIGSEGV";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGILL: return "SIGILL";
        case SIGABRT: return "SIGABRT";
        default: return "signal " + std::to_string(signal);
    }
}

// What is left to say when the child died: `text` is what it wrote, call stack last.
std::string Crash(int status, const std::string& text) {
    const size_t stack = text.find("\n@");
    const std::string done = text.substr(0, stack);
    if (!done.empty() && done[0] == '{') {
        Json problem;
        problem.Value("inference ended with " + Cause(status));
        return done + ",\"inference\":{\"problem\":" + problem.Text() + ",\"outputs\":[]}";
    }
    Json json;
    json.Open('{').Key("status").Value("crashed").Key("message");
    json.Value("the host code ended with " + Cause(status)).Key("cause").Value(Cause(status));
    json.Key("frames").Open('[');
    for (const auto& line : npuforge::host::Split(text, '\n')) {
        if (line.size() > 1 && line[0] == '@') json.Value(line.substr(1));
    }
    json.Close(']');
    return json.Text();
}

}  // namespace

int main(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (!(command == "describe" && argc == 3) && !(command == "tiling" && argc == 4)) {
        std::fprintf(stderr, "usage: host_runner describe LIBRARY | tiling LIBRARY REQUEST\n");
        return 2;
    }
    int answer[2];
    int output[2];
    if (pipe(answer) != 0 || pipe(output) != 0) {
        std::perror("host_runner");
        return 2;
    }
    const pid_t child = fork();
    if (child < 0) {
        std::perror("host_runner");
        return 2;
    }
    if (child == 0) {
        close(answer[0]);
        close(output[0]);
        g_answer = answer[1];
        dup2(output[1], STDOUT_FILENO);
        dup2(output[1], STDERR_FILENO);
        close(output[1]);
        CatchCrashes();
        Answer(command, argv[2], argc > 3 ? argv[3] : nullptr);
        std::cout.flush();
        std::fflush(nullptr);
        _exit(0);
    }
    close(answer[1]);
    close(output[1]);
    std::string text;
    std::string log;
    Collect(answer[0], output[0], text, log);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || text.empty()) text = Crash(status, text);
    if (!log.empty() && log.back() == '\n') log.pop_back();
    Json lines;
    lines.List(npuforge::host::Split(log, '\n'));
    std::printf("%s,\"log\":%s}\n", text.c_str(), lines.Text().c_str());
    return 0;
}
