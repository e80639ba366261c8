// SPDX-License-Identifier: Apache-2.0
// Graph operators. They are the argument of callbacks that a graph compiler asks whether it may use
// an operator; the twin compiles such callbacks and never calls them, so no operator ever exists.
#pragma once

#include <string>

#include "npuforge_host/ge_types.h"
#include "npuforge_host/tensor_shape.h"

namespace ge {

class TensorDesc {
public:
    Shape GetShape() const { return shape_; }
    Shape GetOriginShape() const { return shape_; }
    DataType GetDataType() const { return type_; }
    Format GetFormat() const { return format_; }
    Format GetOriginFormat() const { return format_; }

private:
    Shape shape_;
    DataType type_ = DT_UNDEFINED;
    Format format_ = FORMAT_RESERVED;
};

class Operator {
public:
    Operator() = delete;
    TensorDesc GetInputDescByName(const char* name) const;
    TensorDesc GetOutputDescByName(const char* name) const;
    TensorDesc GetInputDesc(uint32_t index) const;
    TensorDesc GetOutputDesc(uint32_t index) const;
    size_t GetInputsSize() const;
    template <typename T>
    graphStatus GetAttr(const char*, T&) const {
        return GRAPH_FAILED;
    }
};

}  // namespace ge
