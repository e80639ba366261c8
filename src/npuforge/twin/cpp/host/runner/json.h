// SPDX-License-Identifier: Apache-2.0
// A minimal JSON writer: commas are placed by remembering whether the current level has members.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace npuforge::host {

class Json {
public:
    Json& Open(char bracket) {
        Separate();
        text_ += bracket;
        first_.push_back(true);
        return *this;
    }
    Json& Close(char bracket) {
        text_ += bracket;
        first_.pop_back();
        return *this;
    }
    Json& Key(std::string_view key) {
        Separate();
        Quote(key);
        text_ += ':';
        after_key_ = true;
        return *this;
    }
    Json& Value(std::string_view value) {
        Separate();
        Quote(value);
        return *this;
    }
    Json& Value(const char* value) { return Value(std::string_view(value)); }
    Json& Value(const std::string& value) { return Value(std::string_view(value)); }
    Json& Value(bool value) { return Raw(value ? "true" : "false"); }
    template <typename T>
        requires std::is_integral_v<T>
    Json& Value(T value) {
        return Raw(std::to_string(value));
    }
    // The shortest text that reads back as the same number of the same type.
    template <typename T>
        requires std::is_floating_point_v<T>
    Json& Value(T value) {
        if (!std::isfinite(value)) {
            return Value(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        }
        char text[64];
        const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
        return Raw(std::string_view(text, end - text));
    }
    Json& Null() { return Raw("null"); }
    Json& Raw(std::string_view text) {
        Separate();
        text_ += text;
        return *this;
    }
    template <typename Items>
    Json& List(const Items& items) {
        Open('[');
        for (const auto& item : items) Value(item);
        return Close(']');
    }
    const std::string& Text() const { return text_; }
    // Starts over with the text, keeping the place in the document.
    void Forget() { text_.clear(); }

private:
    void Separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (first_.empty()) return;
        if (!first_.back()) text_ += ',';
        first_.back() = false;
    }
    void Quote(std::string_view value) {
        text_ += '"';
        for (const char c : value) {
            if (c == '"' || c == '\\') {
                text_ += '\\';
                text_ += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                char escaped[8];
                std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
                text_ += escaped;
            } else {
                text_ += c;
            }
        }
        text_ += '"';
    }

    std::string text_;
    std::vector<bool> first_;
    bool after_key_ = false;
};

}  // namespace npuforge::host
