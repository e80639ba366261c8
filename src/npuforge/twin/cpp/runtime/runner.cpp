// SPDX-License-Identifier: Apache-2.0
// npuforge-runner PLAN: one kernel launch described by a text file, a `key value...` pair per line.
//
//   mode run|check|time|timed      constants FILE        result FILE       trace FILE
//   library FILE                   entry NAME            blocks N          key N
//   auto_sync 0|1                  seed N
//   buffer NAME BYTES ROLE FILE|-  ROLE: in, out, inout, workspace, shapes, tiling
//   pointer NAME | null | scalar HEXBYTES | list NAME[:DIMxDIM...]...   the kernel's arguments, in order
//
// `entry` names a trampoline `npuforge_entry_NAME(void** arguments)` that the build adds behind the
// kernel source; arguments[i] points to the value of argument i.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "session.h"

namespace npuforge {
namespace {

struct Argument {
    std::vector<uint8_t> bytes;
};

struct Plan {
    SessionSettings settings;
    std::string library, entry;
    int blocks = 1;
    uint64_t key = 0;
    std::vector<std::vector<std::string>> buffers, arguments;
};

Plan read_plan(const char* path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error(std::string("cannot read the plan ") + path);
    Plan plan;
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string key;
        if (!(words >> key)) continue;
        std::vector<std::string> rest;
        for (std::string w; words >> w;) rest.push_back(w);
        const auto value = [&]() -> const std::string& {
            if (rest.empty()) throw std::runtime_error("plan: '" + key + "' needs a value");
            return rest[0];
        };
        if (key == "mode") plan.settings.mode = value();
        else if (key == "constants") plan.settings.constants = value();
        else if (key == "result") plan.settings.result = value();
        else if (key == "trace") plan.settings.trace = value();
        else if (key == "auto_sync") plan.settings.auto_sync = value() != "0";
        else if (key == "seed") plan.settings.seed = std::stoull(value());
        else if (key == "library") plan.library = value();
        else if (key == "entry") plan.entry = value();
        else if (key == "blocks") plan.blocks = std::stoi(value());
        else if (key == "key") plan.key = std::stoull(value());
        else if (key == "buffer" && rest.size() == 4) plan.buffers.push_back(rest);
        else if (key == "pointer" || key == "null" || key == "scalar" || key == "list") {
            rest.insert(rest.begin(), key);
            plan.arguments.push_back(rest);
        } else throw std::runtime_error("plan: unknown line '" + line + "'");
    }
    return plan;
}

std::vector<uint8_t> bytes_of(const void* value, size_t size) {
    const auto* b = static_cast<const uint8_t*>(value);
    return {b, b + size};
}

struct ListMember {
    uint8_t* address;
    std::vector<uint64_t> shape;
};

// A dynamic tensor list as the kernel reads it (see npu/list_tensor.h): the byte offset of the pointer
// table, the shape of each tensor, the table.
std::vector<uint64_t> tensor_list(const std::vector<ListMember>& members) {
    std::vector<uint64_t> words{0};
    const bool shaped = !members.empty() && !members[0].shape.empty();
    for (size_t i = 0; shaped && i < members.size(); ++i) {
        words.push_back(members[i].shape.size() | uint64_t(i == 0 ? members.size() : i) << 32);
        words.insert(words.end(), members[i].shape.begin(), members[i].shape.end());
    }
    if (!shaped) {
        words.push_back(uint64_t(members.size()) << 32);
        words.push_back(0xffffffff);
    }
    words[0] = words.size() * sizeof(uint64_t);
    for (const ListMember& m : members) words.push_back(reinterpret_cast<uint64_t>(m.address));
    return words;
}

// NAME or NAME:DIMxDIM...
std::pair<std::string, std::vector<uint64_t>> named_shape(const std::string& text) {
    const size_t colon = text.find(':');
    std::vector<uint64_t> shape;
    if (colon != std::string::npos) {
        std::istringstream dims(text.substr(colon + 1));
        for (std::string d; std::getline(dims, d, 'x');) shape.push_back(std::stoull(d));
    }
    return {text.substr(0, colon), shape};
}

int run(const char* path) {
    const Plan plan = read_plan(path);
    open_session(plan.settings);
    Launch launch;
    launch.blocks = plan.blocks;
    launch.key = plan.key;
    std::map<std::string, uint8_t*> addresses;
    for (const auto& b : plan.buffers) {
        const std::string& role = b[2];
        const bool written = role == "out" || role == "inout" || role == "workspace" || role == "shapes";
        launch.gm.push_back(map_gm(b[0], std::stoull(b[1]), b[3] == "-" ? "" : b[3], written,
                                   role == "in" || role == "inout" || role == "shapes" || role == "tiling", role == "tiling"));
        addresses[b[0]] = launch.gm.back().base;
        if (role == "workspace") launch.workspace = launch.gm.back().base;
    }
    std::vector<Argument> arguments;
    std::vector<std::vector<uint64_t>> lists;
    const auto address = [&](const std::string& name) {
        const auto found = addresses.find(name);
        if (found == addresses.end()) throw std::runtime_error("plan: no buffer " + name);
        return found->second;
    };
    for (const auto& a : plan.arguments) {
        if (a[0] == "null") {
            const uint8_t* none = nullptr;
            arguments.push_back({bytes_of(&none, sizeof none)});
        } else if (a[0] == "pointer") {
            const uint8_t* at = address(a.at(1));
            arguments.push_back({bytes_of(&at, sizeof at)});
        } else if (a[0] == "list") {
            std::vector<ListMember> members;
            for (size_t i = 1; i < a.size(); ++i) {
                const auto [name, shape] = named_shape(a[i]);
                members.push_back({address(name), shape});
            }
            lists.push_back(tensor_list(members));
            const void* at = lists.back().data();
            arguments.push_back({bytes_of(&at, sizeof at)});
        } else {
            Argument value;
            const std::string& hex = a.at(1);
            for (size_t i = 0; i + 1 < hex.size(); i += 2)
                value.bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
            value.bytes.resize(std::max<size_t>(value.bytes.size(), 16));
            arguments.push_back(value);
        }
    }
    void* library = dlopen(plan.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto symbol = [&](const std::string& name) {
        void* at = dlsym(library, name.c_str());
        if (at == nullptr) throw std::runtime_error("the library has no " + name);
        return at;
    };
    using Entry = void (*)(void**);
    const auto entry = reinterpret_cast<Entry>(symbol("npuforge_entry_" + plan.entry));
    const int arity = *static_cast<const int*>(symbol("npuforge_arity_" + plan.entry));
    if (arity != static_cast<int>(arguments.size()))
        throw std::runtime_error("the kernel takes " + std::to_string(arity) + " arguments, the launch gives " +
                                 std::to_string(arguments.size()));
    run_launch(launch, plan.entry, [&] {
        void* pointers[64];
        for (size_t i = 0; i < arguments.size(); ++i) pointers[i] = arguments[i].bytes.data();
        entry(pointers);
    });
    close_session("");
    return 0;
}

}  // namespace
}  // namespace npuforge

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: npuforge-runner PLAN\n");
        return 2;
    }
    try {
        return npuforge::run(argv[1]);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "npuforge-runner: %s\n", problem.what());
        npuforge::close_session(problem.what());
        return 2;
    }
}
