// SPDX-License-Identifier: Apache-2.0
// at::Tensor as a handle to a Python tensor, and the at:: functions binding code calls.
#pragma once
#include "convert.h"

namespace npuforge_torch {

// Positional arguments, with tensor options as keywords.
class CallArguments {
public:
    // Functions of the torch module take element types by keyword, methods of tensors in place.
    explicit CallArguments(bool types_by_keyword) : types_by_keyword_(types_by_keyword), positional_(Object::steal(PyList_New(0))), keywords_(Object::steal(PyDict_New())) {}
    template <typename T> void add(const T& value) {
        if constexpr (std::is_same_v<T, at::TensorOptions>) {
            if (value.dtype_opt()) keyword("dtype", to_python(*value.dtype_opt()));
        } else if constexpr (std::is_same_v<T, at::ScalarType>) {
            if (types_by_keyword_) keyword("dtype", to_python(value));
            else append(to_python(value));
        } else if constexpr (std::is_same_v<T, at::MemoryFormat> || std::is_same_v<T, at::Layout>) {
            // Everything is dense and contiguous here.
        } else {
            append(to_python(value));
        }
    }
    void keyword(const char* name, const Object& value) { PyDict_SetItemString(keywords_.get(), name, value.get()); }
    Object call(const Object& function) const {
        const Object tuple = Object::steal(PyList_AsTuple(positional_.get()));
        return Object::steal(PyObject_Call(function.get(), tuple.get(), keywords_.get()));
    }

private:
    void append(const Object& object) {
        if (PyList_Append(positional_.get(), object.get()) != 0) Object::rethrow();
    }
    bool types_by_keyword_;
    Object positional_, keywords_;
};

template <typename... A> Object call_object(const Object& function, const A&... arguments) {
    CallArguments packed(false);
    (packed.add(arguments), ...);
    return packed.call(function);
}

template <typename... A> Object call_torch(const char* name, const A&... arguments) {
    CallArguments packed(true);
    (packed.add(arguments), ...);
    return packed.call(torch_module().attribute(name));
}

// A runtime that runs kernels in this process must know which memory belongs to tensors.
using MemoryHook = void (*)(void* address, uint64_t bytes);
inline MemoryHook& memory_hook() {
    static MemoryHook hook = nullptr;
    return hook;
}

}  // namespace npuforge_torch

// Methods and functions that return tensors, by their Python names.
#define NPUFORGE_TENSOR_METHODS(X)                                                                                   \
    X(contiguous) X(view) X(reshape) X(to) X(clone) X(detach) X(fill_) X(zero_) X(copy_) X(sum) X(mean) X(unsqueeze) \
    X(squeeze) X(transpose) X(permute) X(narrow) X(select) X(flatten) X(expand) X(expand_as) X(repeat) X(t) X(abs)    \
    X(exp) X(log) X(sqrt) X(pow) X(neg) X(add) X(sub) X(mul) X(div) X(add_) X(sub_) X(mul_) X(div_) X(max) X(min)     \
    X(amax) X(amin) X(argmax) X(argmin) X(clamp) X(masked_fill) X(masked_fill_) X(index_select) X(gather) X(scatter_) \
    X(view_as) X(type_as) X(matmul) X(mm) X(bmm) X(prod) X(cumsum) X(any) X(all) X(sort) X(topk) X(chunk) X(split)    \
    X(unbind) X(nonzero) X(eq) X(ne) X(lt) X(gt) X(le) X(ge) X(logical_not) X(resize_) X(new_empty) X(new_zeros)      \
    X(new_ones) X(new_full) X(relu) X(sigmoid) X(tanh) X(softmax) X(flip) X(roll) X(movedim) X(swapaxes) X(unflatten)  \
    X(bitwise_and) X(bitwise_or) X(floor) X(ceil) X(round) X(trunc) X(norm) X(var) X(std) X(half) X(cpu)

#define NPUFORGE_TORCH_FUNCTIONS(X)                                                                                  \
    X(empty) X(empty_like) X(zeros) X(zeros_like) X(ones) X(ones_like) X(full) X(full_like) X(arange) X(tensor)       \
    X(scalar_tensor) X(cat) X(stack) X(sum) X(mean) X(matmul) X(mm) X(bmm) X(add) X(sub) X(mul) X(div) X(exp) X(log)  \
    X(sqrt) X(rsqrt) X(pow) X(abs) X(neg) X(relu) X(sigmoid) X(tanh) X(softmax) X(log_softmax) X(max) X(min) X(maximum) \
    X(minimum) X(amax) X(amin) X(argmax) X(argmin) X(clamp) X(where) X(gather) X(scatter) X(index_select) X(cumsum)   \
    X(cumprod) X(flatten) X(reshape) X(transpose) X(permute) X(unsqueeze) X(squeeze) X(broadcast_to) X(sort) X(topk)  \
    X(layer_norm) X(group_norm) X(batch_norm) X(conv2d) X(linear) X(eye) X(rand) X(randn) X(randint) X(linspace)      \
    X(isnan) X(isinf) X(isfinite) X(floor) X(ceil) X(round) X(sin) X(cos) X(erf) X(sign) X(prod) X(norm) X(var)       \
    X(repeat_interleave) X(meshgrid) X(tril) X(triu) X(outer) X(einsum) X(nonzero) X(view_as_real) X(view_as_complex)

namespace at {

// Element access for host code that reads small tensors.
template <typename T, size_t N> class TensorAccessor {
public:
    TensorAccessor(T* data, std::vector<int64_t> sizes, std::vector<int64_t> strides)
        : data_(data), sizes_(std::move(sizes)), strides_(std::move(strides)) {}
    decltype(auto) operator[](int64_t i) const {
        T* at = data_ + i * strides_[0];
        if constexpr (N == 1) return *at;
        else return TensorAccessor<T, N - 1>(at, {sizes_.begin() + 1, sizes_.end()}, {strides_.begin() + 1, strides_.end()});
    }
    int64_t size(int64_t dim) const { return sizes_[static_cast<size_t>(dim)]; }

private:
    T* data_;
    std::vector<int64_t> sizes_, strides_;
};

class Tensor {
public:
    Tensor() = default;
    explicit Tensor(npuforge_torch::Object object) : object_(std::move(object)) {}
    bool defined() const { return !object_.none(); }
    const npuforge_torch::Object& object() const { return object_; }

    IntArrayRef sizes() const { return kept(sizes_, read<std::vector<int64_t>>(object_.attribute("shape"))); }
    IntArrayRef strides() const { return kept(strides_, read<std::vector<int64_t>>(method("stride"))); }
    int64_t size(int64_t dim) const { return read<int64_t>(method("size", dim)); }
    int64_t stride(int64_t dim) const { return read<int64_t>(method("stride", dim)); }
    int64_t dim() const { return read<int64_t>(method("dim")); }
    int64_t ndimension() const { return dim(); }
    int64_t numel() const { return read<int64_t>(method("numel")); }
    int64_t element_size() const { return read<int64_t>(method("element_size")); }
    int64_t itemsize() const { return element_size(); }
    int64_t nbytes() const { return numel() * element_size(); }
    int64_t storage_offset() const { return read<int64_t>(method("storage_offset")); }
    ScalarType scalar_type() const { return read<ScalarType>(object_.attribute("dtype")); }
    ScalarType dtype() const { return scalar_type(); }
    Device device() const { return {}; }
    TensorOptions options() const { return TensorOptions(scalar_type()); }
    bool is_contiguous() const { return read<bool>(method("is_contiguous")); }
    bool is_floating_point() const { return read<bool>(method("is_floating_point")); }
    bool is_complex() const { return read<bool>(method("is_complex")); }
    bool is_privateuseone() const { return true; }
    bool is_cpu() const { return true; }
    bool is_cuda() const { return false; }
    bool requires_grad() const { return false; }
    MemoryFormat suggest_memory_format() const { return MemoryFormat::Contiguous; }
    void* data_ptr() const {
        auto* at = reinterpret_cast<void*>(read<int64_t>(method("data_ptr")));
        if (npuforge_torch::memory_hook() != nullptr) npuforge_torch::memory_hook()(at, static_cast<uint64_t>(nbytes()));
        return at;
    }
    void* mutable_data_ptr() const { return data_ptr(); }
    const void* const_data_ptr() const { return data_ptr(); }
    template <typename T> T* data_ptr() const { return static_cast<T*>(data_ptr()); }
    template <typename T> T* mutable_data_ptr() const { return data_ptr<T>(); }
    template <typename T> const T* const_data_ptr() const { return data_ptr<T>(); }
    template <typename T, size_t N> TensorAccessor<T, N> accessor() const {
        return {data_ptr<T>(), sizes().vec(), strides().vec()};
    }
    template <typename T> T item() const { return read<Scalar>(method("item")).to<T>(); }
    Scalar item() const { return read<Scalar>(method("item")); }
    Tensor operator[](int64_t index) const {
        const npuforge_torch::Object key = npuforge_torch::to_python(index);
        return Tensor(npuforge_torch::Object::steal(PyObject_GetItem(object_.get(), key.get())));
    }
    Tensor slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step = 1) const {
        if (step != 1) throw std::runtime_error("slice with a step is not in the thin torch headers");
        const int64_t from = start.value_or(0);
        const int64_t to = std::min(end.value_or(size(dim)), size(dim));
        return narrow(dim, from, to - from);
    }
    void reset() { object_ = npuforge_torch::Object(); }

#define X(name)                                                                                                       \
    template <typename... A> Tensor name(const A&... arguments) const { return Tensor(method(#name, arguments...)); }  \
    template <typename... A> Tensor name(std::initializer_list<int64_t> list, const A&... arguments) const {           \
        return Tensor(method(#name, std::vector<int64_t>(list), arguments...));                                        \
    }
    NPUFORGE_TENSOR_METHODS(X)
#undef X

    // Functions with several results: std::tuple<Tensor, Tensor> pair = at::max(x, 1).
    template <typename... T> operator std::tuple<T...>() const { return unpack<T...>(std::index_sequence_for<T...>()); }
    operator std::vector<Tensor>() const;

private:
    template <typename... A> npuforge_torch::Object method(const char* name, const A&... arguments) const {
        return npuforge_torch::call_object(object_.attribute(name), arguments...);
    }
    template <typename T> static T read(const npuforge_torch::Object& object) {
        return npuforge_torch::from_python<T>::get(object.get());
    }
    template <typename... T, size_t... I> std::tuple<T...> unpack(std::index_sequence<I...>) const {
        return {T(npuforge_torch::Object::steal(PySequence_GetItem(object_.get(), I)))...};
    }
    // Two calls of sizes() give iterators of one list, as a tensor's own memory would.
    static IntArrayRef kept(IntArrayRef::Shared& last, std::vector<int64_t> now) {
        if (last == nullptr || *last != now) last = std::make_shared<const std::vector<int64_t>>(std::move(now));
        return IntArrayRef(last);
    }
    npuforge_torch::Object object_;
    mutable IntArrayRef::Shared sizes_, strides_;
};

using TensorList = ArrayRef<Tensor>;
using ITensorListRef = TensorList;

}  // namespace at

namespace npuforge_torch {

inline Object to_python(const at::Tensor& tensor) { return tensor.defined() ? tensor.object() : Object::borrow(Py_None); }
template <> struct from_python<at::Tensor> {
    static at::Tensor get(PyObject* o) { return o == Py_None ? at::Tensor() : at::Tensor(Object::borrow(o)); }
};

}  // namespace npuforge_torch

namespace at {

inline Tensor::operator std::vector<Tensor>() const {
    return npuforge_torch::from_python<std::vector<Tensor>>::get(object_.get());
}

#define X(name)                                                                                              \
    template <typename... A> Tensor name(const A&... arguments) {                                            \
        return Tensor(npuforge_torch::call_torch(#name, arguments...));                                      \
    }                                                                                                        \
    template <typename... A> Tensor name(std::initializer_list<int64_t> list, const A&... arguments) {       \
        return at::name(std::vector<int64_t>(list), arguments...);                                           \
    }                                                                                                        \
    template <typename... A> Tensor name(const Tensor& first, std::initializer_list<int64_t> list, const A&... arguments) { \
        return at::name(first, std::vector<int64_t>(list), arguments...);                                    \
    }
NPUFORGE_TORCH_FUNCTIONS(X)
#undef X

// The broadcast shape of two shapes.
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
    const size_t dims = std::max(a.size(), b.size());
    std::vector<int64_t> shape(dims);
    for (size_t i = 0; i < dims; ++i) {
        const int64_t x = i < dims - a.size() ? 1 : a[i - (dims - a.size())];
        const int64_t y = i < dims - b.size() ? 1 : b[i - (dims - b.size())];
        if (x != y && x != 1 && y != 1) throw std::runtime_error("shapes do not broadcast");
        shape[i] = x == 1 ? y : x;
    }
    return shape;
}

#define NPUFORGE_TENSOR_OPERATOR(symbol, python)                                                              \
    template <typename B> Tensor operator symbol(const Tensor& a, const B& b) {                               \
        return Tensor(npuforge_torch::call_torch(python, a, b));                                              \
    }
NPUFORGE_TENSOR_OPERATOR(+, "add")
NPUFORGE_TENSOR_OPERATOR(-, "sub")
NPUFORGE_TENSOR_OPERATOR(*, "mul")
NPUFORGE_TENSOR_OPERATOR(/, "div")
NPUFORGE_TENSOR_OPERATOR(>, "gt")
NPUFORGE_TENSOR_OPERATOR(<, "lt")
#undef NPUFORGE_TENSOR_OPERATOR

}  // namespace at

namespace c10 {
using at::ArrayRef;
using at::Device;
using at::DeviceIndex;
using at::DeviceType;
using at::IntArrayRef;
using at::MemoryFormat;
using at::Scalar;
using at::ScalarType;
using at::TensorOptions;
using at::nullopt;
using at::optional;
using std::string;
using string_view = std::string;
inline uint64_t elementSize(ScalarType type) {
    switch (type) {
        case ScalarType::Byte: case ScalarType::Char: case ScalarType::Bool: return 1;
        case ScalarType::Short: case ScalarType::Half: case ScalarType::BFloat16: case ScalarType::UInt16: return 2;
        case ScalarType::Long: case ScalarType::Double: case ScalarType::ComplexFloat: case ScalarType::UInt64: return 8;
        case ScalarType::ComplexDouble: return 16;
        default: return 4;
    }
}
}  // namespace c10

namespace torch {
using namespace at;
using at::Tensor;
inline constexpr ScalarType kUInt8 = at::kByte;
namespace headeronly {}
}  // namespace torch

namespace npuforge_torch {
template <typename... A> [[noreturn]] void fail(const A&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    throw std::runtime_error(text.str().empty() ? "TORCH_CHECK failed" : text.str());
}
}  // namespace npuforge_torch

#define TORCH_CHECK(condition, ...) \
    do {                            \
        if (!(condition)) npuforge_torch::fail(__VA_ARGS__); \
    } while (0)
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) npuforge_torch::fail(__VA_ARGS__)
#define TORCH_WARN(...) ((void)0)
