// SPDX-License-Identifier: Apache-2.0
// Findings of a launch, and the result file the caller reads.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace npuforge {

struct Finding {
    std::string rule, message;
    std::string severity;                // empty: the catalogue's for the rule
    uint32_t site = 0, other_site = 0;   // other_site: the first access of a race
    std::string pipe, other_pipe;        // set for races
    int core = 0;
    uint64_t count = 1;                  // how often the same finding came up
    uint64_t cycles_lost = 0;            // advice
};

// Adds a finding unless the same rule was reported at the same site(s); then only counts.
void add_finding(Finding finding);
void report_at(uint32_t site, const char* rule, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Where the rule is an error in general and this case of it does no certain harm.
void warn_at(uint32_t site, const char* rule, std::string message);
const std::vector<Finding>& findings();
void clear_findings();

// Ends the whole run with a reason (deadlock, device assert); does not return.
[[noreturn]] void stop_launch(const std::string& reason);

class JsonWriter {
public:
    void open(char bracket);
    void close(char bracket);
    void key(const char* name);
    void string(const std::string& text);
    void number(double value);
    void integer(int64_t value);
    void boolean(bool value);
    void raw(const std::string& json);  // a complete JSON value
    const std::string& text() const { return out_; }

private:
    void separate();
    std::string out_;
    bool first_ = true;
};

}  // namespace npuforge
