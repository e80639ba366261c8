// SPDX-License-Identifier: Apache-2.0
// The class behind tiling structures that are declared with macros. Needs no other header of ours:
// the device runtime defines it too, for programs that launch their own kernels.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace optiling {

struct FieldInfo {
    std::string type;         // scalar type, or the structure's name
    std::string name;
    size_t offset = 0;
    size_t size = 0;          // bytes of the whole field
    size_t array_length = 0;  // 0: not an array
    bool is_struct = false;
    bool is_padding = false;
    std::vector<FieldInfo> members;
};

class TilingDef {
public:
    TilingDef();
    TilingDef(const TilingDef&) = delete;
    TilingDef& operator=(const TilingDef&) = delete;
    virtual ~TilingDef();

    void SaveToBuffer(void* buffer, size_t capacity);
    size_t GetDataSize() const { return data_size_; }
    const char* GetTilingClassName() const { return class_name_; }
    const std::vector<FieldInfo>& GetFieldInfo() const { return fields_; }
    void SetDataPtr(void* data);

protected:
    size_t AddField(const char* type, const char* name, size_t size, size_t count, bool array);
    size_t AddStruct(const char* type, const char* name, TilingDef& nested);
    void Finish(const char* class_name, void* data, bool own);

    uint8_t* data_ptr_ = nullptr;

private:
    void Align(const char* name, size_t alignment);
    void Attach(void* data);

    const char* class_name_ = "";
    size_t data_size_ = 0;
    bool attached_ = false;  // the fields live in the caller's memory
    std::vector<uint8_t> own_;
    std::vector<FieldInfo> fields_;
    std::vector<std::pair<TilingDef*, size_t>> nested_;
};

}  // namespace optiling
