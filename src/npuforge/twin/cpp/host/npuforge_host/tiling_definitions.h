// SPDX-License-Identifier: Apache-2.0
// Definitions of the tiling class, for one source of every program that has it.
#pragma once

#include <iostream>

#include "tiling_def.h"

namespace optiling {

TilingDef::TilingDef() = default;
TilingDef::~TilingDef() = default;
void TilingDef::SaveToBuffer(void* buffer, size_t capacity) {
    if (attached_) return;
    if (data_size_ > capacity) {
        std::cerr << "[ERROR] " << class_name_ << " needs " << data_size_
                  << " bytes of tiling data, the buffer has " << capacity << std::endl;
        return;
    }
    std::memcpy(buffer, data_ptr_, data_size_);
}
void TilingDef::SetDataPtr(void* data) {
    own_.clear();
    attached_ = true;
    Attach(data);
}
size_t TilingDef::AddField(const char* type, const char* name, size_t size, size_t count, bool array) {
    Align(name, size);
    const size_t offset = data_size_;
    fields_.push_back({type, name, offset, size * count, array ? count : 0, false, false, {}});
    data_size_ += size * count;
    return offset;
}
size_t TilingDef::AddStruct(const char* type, const char* name, TilingDef& nested) {
    Align(name, 8);
    const size_t offset = data_size_;
    fields_.push_back({type, name, offset, nested.data_size_, 0, true, false, nested.fields_});
    nested_.emplace_back(&nested, offset);
    data_size_ += nested.data_size_;
    return offset;
}
void TilingDef::Finish(const char* class_name, void* data, bool own) {
    class_name_ = class_name;
    Align(class_name, 8);
    if (own) {
        own_.resize(data_size_);
        Attach(own_.data());
    } else if (data != nullptr) {
        SetDataPtr(data);
    }
}
void TilingDef::Align(const char* name, size_t alignment) {
    const size_t gap = (alignment - data_size_ % alignment) % alignment;
    if (gap == 0) return;
    fields_.push_back({"uint8_t", std::string(name) + "PH", data_size_, gap, gap, false, true, {}});
    data_size_ += gap;
}
void TilingDef::Attach(void* data) {
    data_ptr_ = static_cast<uint8_t*>(data);
    for (auto& [nested, offset] : nested_) nested->SetDataPtr(data_ptr_ + offset);
}

}  // namespace optiling
