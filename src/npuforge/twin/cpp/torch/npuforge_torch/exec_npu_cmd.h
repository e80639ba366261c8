// SPDX-License-Identifier: Apache-2.0
// EXEC_NPU_CMD(aclnnName, inputs..., attributes..., outputs...): hands the call to the twin.
#pragma once
#include "module.h"

// Binding code converts some arguments itself before the call; the results only pass through.
struct aclIntArray {
    std::vector<int64_t> items;
};
using aclScalar = at::Scalar;
namespace npuforge_torch {
inline Object to_python(const aclIntArray* array) { return to_python(array->items); }
inline Object to_python(const aclScalar* scalar) { return to_python(*scalar); }
}  // namespace npuforge_torch

inline aclIntArray* ConvertType(const at::IntArrayRef& items) { return new aclIntArray{items.vec()}; }
inline at::Tensor ConvertType(const at::Tensor& tensor) { return tensor; }
inline aclScalar* ConvertType(const at::Scalar& scalar) { return new aclScalar(scalar); }
inline aclScalar* ConvertTensorToAclScaler(const at::Tensor& tensor) { return new aclScalar(tensor.item()); }
inline at::Scalar ConvertTensorToScalar(const at::Tensor& tensor) { return tensor.item(); }
inline at::Tensor CopyTensorHostToDevice(const at::Tensor& tensor) { return tensor; }

namespace npuforge_torch {

template <typename... A> void exec_npu_cmd(const char* name, const A&... arguments) {
    Object list = Object::steal(PyList_New(0));
    (PyList_Append(list.get(), to_python(arguments).get()), ...);
    call_object(import_module("npuforge_bridge").attribute("exec_npu_cmd"), std::string(name), list);
}

}  // namespace npuforge_torch

#define EXEC_NPU_CMD(api, ...) npuforge_torch::exec_npu_cmd(#api, __VA_ARGS__)
#define EXEC_NPU_CMD_V1(api, ...) EXEC_NPU_CMD(api, __VA_ARGS__)
#define EXEC_NPU_NO_FORMAT_CHECK_CMD(api, ...) EXEC_NPU_CMD(api, __VA_ARGS__)
