// SPDX-License-Identifier: Apache-2.0
// Tiling structures declared with macros. Layout: every field is aligned to its own size, a nested
// structure and the end of every structure to eight bytes, and each gap is a named byte array.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "npuforge_host/registry.h"
#include "npuforge_host/tiling_def.h"

namespace optiling {

template <typename Class>
int RegisterTilingClass(const char* registered_as, bool library) {
    return npuforge::host::RegisterTilingClass(registered_as, library,
                                               []() -> TilingDef* { return new Class(); });
}

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)                                          \
    class class_name : public TilingDef {                                          \
    public:                                                                        \
        class_name() { Finish(#class_name, nullptr, true); }                       \
        explicit class_name(void* data) { Finish(#class_name, data, false); }

#define TILING_DATA_FIELD_DEF(data_type, field_name)                               \
public:                                                                            \
    void set_##field_name(data_type value) {                                       \
        field_name##_ = value;                                                     \
        std::memcpy(data_ptr_ + field_name##_offset_, &value, sizeof(value));      \
    }                                                                              \
    data_type get_##field_name() const { return field_name##_; }                   \
                                                                                   \
private:                                                                           \
    data_type field_name##_ = 0;                                                   \
    size_t field_name##_offset_ =                                                  \
        AddField(#data_type, #field_name, sizeof(data_type), 1, false);

#define TILING_DATA_FIELD_DEF_ARR(element_type, length, field_name)                \
public:                                                                            \
    void set_##field_name(const element_type* values) {                            \
        std::memmove(data_ptr_ + field_name##_offset_, values, (length) * sizeof(element_type)); \
    }                                                                              \
    element_type* get_##field_name() const {                                       \
        return reinterpret_cast<element_type*>(data_ptr_ + field_name##_offset_);  \
    }                                                                              \
                                                                                   \
private:                                                                           \
    size_t field_name##_offset_ =                                                  \
        AddField(#element_type, #field_name, sizeof(element_type), length, true);

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name)                      \
public:                                                                            \
    struct_type field_name{nullptr};                                               \
                                                                                   \
private:                                                                           \
    size_t field_name##_offset_ = AddStruct(#struct_type, #field_name, field_name);

#define END_TILING_DATA_DEF \
    }                       \
    ;

#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                                     \
    namespace {                                                                             \
    [[maybe_unused]] const int g_tilingdata_##op_type##class_name##_registered =            \
        ::optiling::RegisterTilingClass<class_name>(#op_type, false);                       \
    }
// The same for structures of our own headers, whose kernel-side twins the kernel headers define.
#define NPUFORGE_LIBRARY_TILING_CLASS(class_name)                                           \
    namespace {                                                                             \
    [[maybe_unused]] const int g_library_tilingdata_##class_name##_registered =             \
        ::optiling::RegisterTilingClass<class_name>(#class_name, true);                     \
    }
