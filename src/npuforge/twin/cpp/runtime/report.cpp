// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <tuple>

#include "../npu/abi.h"
#include "core.h"

namespace npuforge {

namespace {

constexpr size_t kMaxFindings = 200;

// Never destroyed: a program's session closes while it exits, after objects made later than it.
std::vector<Finding>& store() {
    static auto& all = *new std::vector<Finding>;
    return all;
}

std::map<std::tuple<std::string, uint32_t, uint32_t>, size_t>& seen() {
    static std::map<std::tuple<std::string, uint32_t, uint32_t>, size_t> index;
    return index;
}

std::string formatted(const char* format, va_list arguments) {
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    return text;
}

}  // namespace

void add_finding(Finding finding) {
    const auto key = std::make_tuple(finding.rule, finding.site, finding.other_site);
    const auto [entry, fresh] = seen().try_emplace(key, store().size());
    if (!fresh) {
        store()[entry->second].count += 1;
        store()[entry->second].cycles_lost += finding.cycles_lost;
        if (finding.severity.empty()) store()[entry->second].severity.clear();
        return;
    }
    if (store().size() >= kMaxFindings) {
        seen().erase(entry);
        return;
    }
    finding.core = g_core != nullptr ? g_core->index : 0;
    store().push_back(std::move(finding));
}

void report_at(uint32_t site, const char* rule, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Finding finding;
    finding.rule = rule;
    finding.message = formatted(format, arguments);
    finding.site = site;
    va_end(arguments);
    add_finding(std::move(finding));
}

void warn_at(uint32_t site, const char* rule, std::string message) {
    Finding finding;
    finding.rule = rule;
    finding.severity = "warning";
    finding.message = std::move(message);
    finding.site = site;
    add_finding(std::move(finding));
}

void report(const char* rule, const char* format, ...) {
    if ((g_mode & kCheck) == 0) return;
    va_list arguments;
    va_start(arguments, format);
    Finding finding;
    finding.rule = rule;
    finding.message = formatted(format, arguments);
    finding.site = NPUFORGE_SITE();
    va_end(arguments);
    add_finding(std::move(finding));
}

const std::vector<Finding>& findings() { return store(); }

void clear_findings() {
    store().clear();
    seen().clear();
}

void JsonWriter::separate() {
    if (!first_) out_ += ',';
    first_ = false;
}
void JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
}
void JsonWriter::close(char bracket) {
    out_ += bracket;
    first_ = false;
}
void JsonWriter::key(const char* name) {
    string(name);
    out_ += ':';
    first_ = true;
}
void JsonWriter::string(const std::string& text) {
    separate();
    out_ += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out_ += '\\';
            out_ += c;
        } else if (byte < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", byte);
            out_ += escape;
        } else {
            out_ += c;
        }
    }
    out_ += '"';
}
void JsonWriter::number(double value) {
    separate();
    if (!std::isfinite(value)) {
        out_ += "null";
        return;
    }
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    out_ += text;
}
void JsonWriter::integer(int64_t value) {
    separate();
    out_ += std::to_string(value);
}
void JsonWriter::raw(const std::string& json) {
    separate();
    out_ += json;
}
void JsonWriter::boolean(bool value) {
    separate();
    out_ += value ? "true" : "false";
}

}  // namespace npuforge
