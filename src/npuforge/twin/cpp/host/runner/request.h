// SPDX-License-Identifier: Apache-2.0
// The request of `tiling`: a text file, one statement per line, words separated by one space.
//
//   op TYPE                                   the operator (required)
//   name TEXT                                 the node's name (default: the type)
//   deterministic 0|1
//   core_type aiv|aic                         which count GetCoreNum() answers (default aiv)
//   compile_info JSON                         text of the compile information (default {})
//   input NAME DTYPE FORMAT DIMS [origin=DIMS] [origin_format=FORMAT] [data=FILE]
//   absent NAME                               an optional input that is not given
//   output NAME DTYPE FORMAT DIMS             overrides what the operator infers
//   attr NAME KIND VALUE                      KIND as in describe; `attr NAME none` for no value
//
// DIMS is `2,3` or `scalar`. A dynamic input is several `input` lines of one name (or `absent`).
// Lists are `1,2,3`, lists of lists `1,2;3`, an empty list an empty VALUE. FILE holds the raw
// little-endian values of an input whose values the host code reads.
#pragma once

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "npuforge_host/platform.h"
#include "runner/describe.h"

namespace npuforge::host {

struct BadRequest : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct TensorRequest {
    std::string name;
    ge::DataType type = ge::DT_UNDEFINED;
    ge::Format format = ge::FORMAT_ND;
    ge::Format origin_format = ge::FORMAT_ND;
    gert::Shape shape;
    gert::Shape origin;
    std::string data_file;
};

struct Request {
    std::string op;
    std::string name;
    std::string compile_info = "{}";
    int deterministic = 0;
    bool cube_cores = false;
    std::vector<TensorRequest> inputs;
    std::vector<std::string> absent;
    std::vector<TensorRequest> outputs;
    std::vector<std::pair<std::string, AttrValue>> attrs;
};

inline std::vector<std::string> Split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    if (text.empty()) return parts;
    size_t start = 0;
    for (;;) {
        const size_t end = text.find(separator, start);
        parts.push_back(text.substr(start, end - start));
        if (end == std::string::npos) return parts;
        start = end + 1;
    }
}

inline std::vector<int64_t> Integers(const std::string& text) {
    std::vector<int64_t> values;
    for (const auto& part : Split(text, ',')) {
        size_t used = 0;
        try {
            values.push_back(std::stoll(part, &used));
        } catch (const std::exception&) {
            used = 0;
        }
        if (used == 0 || used != part.size()) throw BadRequest("not an integer: '" + part + "'");
    }
    return values;
}

inline float Real(const std::string& text) {
    char* end = nullptr;
    const float value = std::strtof(text.c_str(), &end);
    if (text.empty() || *end != '\0') throw BadRequest("not a number: '" + text + "'");
    return value;
}

inline gert::Shape ParseShape(const std::string& text) {
    gert::Shape shape;
    if (text == "scalar") return shape;
    for (const int64_t dim : Integers(text)) shape.AppendDim(dim);
    return shape;
}

inline AttrValue ParseAttr(const std::string& kind, const std::string& text) {
    if (kind == "none") return {};
    if (kind == "bool") return text == "1" || text == "true";
    if (kind == "int") {
        const auto values = Integers(text);
        if (values.size() != 1) throw BadRequest("an int attribute needs one value");
        return values.front();
    }
    if (kind == "float") return Real(text);
    if (kind == "str") return text;
    if (kind == "list_int") return Integers(text);
    if (kind == "list_bool") {
        std::vector<char> flags;
        for (const auto& part : Split(text, ',')) flags.push_back(part == "1" || part == "true");
        return flags;
    }
    if (kind == "list_float") {
        std::vector<float> values;
        for (const auto& part : Split(text, ',')) values.push_back(Real(part));
        return values;
    }
    if (kind == "list_list_int") {
        std::vector<std::vector<int64_t>> rows;
        for (const auto& part : Split(text, ';')) rows.push_back(Integers(part));
        return rows;
    }
    throw BadRequest("unknown attribute kind '" + kind + "'");
}

inline TensorRequest ParseTensor(const std::string& text) {
    const auto words = Split(text, ' ');
    if (words.size() < 4) throw BadRequest("a tensor needs a name, type, format and shape: " + text);
    TensorRequest tensor;
    tensor.name = words[0];
    tensor.type = ge::TypeUtils::SerialStringToDataType(words[1]);
    if (tensor.type == ge::DT_UNDEFINED) throw BadRequest("unknown element type " + words[1]);
    tensor.format = ge::TypeUtils::SerialStringToFormat(words[2]);
    tensor.origin_format = tensor.format;
    tensor.shape = ParseShape(words[3]);
    tensor.origin = tensor.shape;
    for (size_t i = 4; i < words.size(); ++i) {
        const size_t split = words[i].find('=');
        const std::string key = words[i].substr(0, split);
        const std::string value = split == std::string::npos ? "" : words[i].substr(split + 1);
        if (key == "origin") {
            tensor.origin = ParseShape(value);
        } else if (key == "origin_format") {
            tensor.origin_format = ge::TypeUtils::SerialStringToFormat(value);
        } else if (key == "data") {
            tensor.data_file = value;
        } else {
            throw BadRequest("unknown tensor property '" + key + "'");
        }
    }
    return tensor;
}

inline Request ParseRequest(const char* path) {
    std::ifstream file(path);
    if (!file) throw BadRequest(std::string("cannot read ") + path);
    Request request;
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        const size_t split = line.find(' ');
        const std::string word = line.substr(0, split);
        const std::string rest = split == std::string::npos ? "" : line.substr(split + 1);
        if (word == "op") {
            request.op = rest;
        } else if (word == "name") {
            request.name = rest;
        } else if (word == "deterministic") {
            request.deterministic = rest == "1";
        } else if (word == "core_type") {
            request.cube_cores = rest == "aic";
        } else if (word == "compile_info") {
            request.compile_info = rest;
        } else if (word == "input") {
            request.inputs.push_back(ParseTensor(rest));
        } else if (word == "output") {
            request.outputs.push_back(ParseTensor(rest));
        } else if (word == "absent") {
            request.absent.push_back(rest);
        } else if (word == "attr") {
            const auto words = Split(rest, ' ');
            if (words.size() < 2) throw BadRequest("an attribute needs a name and a kind: " + rest);
            const size_t head = words[0].size() + words[1].size() + 2;
            const std::string value = head <= rest.size() ? rest.substr(head) : "";
            request.attrs.emplace_back(words[0], ParseAttr(words[1], value));
        } else {
            throw BadRequest("unknown statement '" + word + "'");
        }
    }
    if (request.op.empty()) throw BadRequest("the request names no operator");
    return request;
}

}  // namespace npuforge::host
