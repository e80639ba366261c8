// SPDX-License-Identifier: Apache-2.0
// Scalar types, devices, options, scalars and array views of the at:: and c10:: namespaces.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <tuple>
#include <variant>
#include <vector>

#include "object.h"

namespace at {

#define NPUFORGE_SCALAR_TYPES(X)                                                                              \
    X(Byte, uint8) X(Char, int8) X(Short, int16) X(Int, int32) X(Long, int64) X(Half, float16) X(Float, float32) \
    X(Double, float64) X(ComplexHalf, complex32) X(ComplexFloat, complex64) X(ComplexDouble, complex128)       \
    X(Bool, bool) X(BFloat16, bfloat16) X(UInt16, uint16) X(UInt32, uint32) X(UInt64, uint64)

enum class ScalarType : int8_t {
#define X(name, python) name,
    NPUFORGE_SCALAR_TYPES(X)
#undef X
    Undefined
};

inline const char* python_name(ScalarType type) {
    switch (type) {
#define X(name, python) case ScalarType::name: return #python;
        NPUFORGE_SCALAR_TYPES(X)
#undef X
        default: return "float32";
    }
}

inline ScalarType scalar_type_named(const std::string& name) {
#define X(cxx, python) if (name == #python || name == "torch." #python) return ScalarType::cxx;
    NPUFORGE_SCALAR_TYPES(X)
#undef X
    return ScalarType::Undefined;
}

inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << python_name(type); }

inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kChar = ScalarType::Char,
                            kInt8 = ScalarType::Char, kShort = ScalarType::Short, kInt16 = ScalarType::Short,
                            kInt = ScalarType::Int, kInt32 = ScalarType::Int, kLong = ScalarType::Long,
                            kInt64 = ScalarType::Long, kHalf = ScalarType::Half, kFloat16 = ScalarType::Half,
                            kFloat = ScalarType::Float, kFloat32 = ScalarType::Float, kDouble = ScalarType::Double,
                            kFloat64 = ScalarType::Double, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16,
                            kComplexFloat = ScalarType::ComplexFloat, kComplexDouble = ScalarType::ComplexDouble;

using Dtype = ScalarType;

enum class DeviceType : int8_t { CPU, CUDA, PrivateUse1, Meta };
using DeviceIndex = int8_t;
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kPrivateUse1 = DeviceType::PrivateUse1,
                            kMeta = DeviceType::Meta;

// Whatever the code asks for, tensors live on the CPU here.
struct Device {
    Device() = default;
    Device(DeviceType type, DeviceIndex index = 0) : type_(type), index_(index) {}
    Device(const std::string&) {}
    Device(const char*) {}
    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    bool is_cpu() const { return true; }
    bool is_privateuseone() const { return true; }
    bool operator==(const Device&) const { return true; }
    bool operator!=(const Device&) const { return false; }
    std::string str() const { return "cpu"; }

private:
    DeviceType type_ = DeviceType::PrivateUse1;
    DeviceIndex index_ = 0;
};
inline std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast };
enum class Layout : int8_t { Strided };
inline constexpr Layout kStrided = Layout::Strided;

struct TensorOptions {
    TensorOptions() = default;
    TensorOptions(ScalarType type) : type_(type) {}
    TensorOptions(Device) {}
    TensorOptions(DeviceType) {}
    TensorOptions dtype(ScalarType type) const {
        TensorOptions o = *this;
        o.type_ = type;
        return o;
    }
    TensorOptions dtype(std::optional<ScalarType> type) const { return type ? dtype(*type) : *this; }
    template <typename D> TensorOptions device(const D&, int = 0) const { return *this; }
    TensorOptions layout(Layout) const { return *this; }
    TensorOptions requires_grad(bool) const { return *this; }
    TensorOptions memory_format(MemoryFormat) const { return *this; }
    ScalarType dtype() const { return type_.value_or(ScalarType::Float); }
    const std::optional<ScalarType>& dtype_opt() const { return type_; }

private:
    std::optional<ScalarType> type_;
};
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
template <typename D> TensorOptions device(const D&) { return TensorOptions(); }

// Owns its elements, unlike the original: the lists here come from Python and are short. Copies and
// lists made from one `Shared` have the same elements, so that iterators of two of them go together.
template <typename T> class ArrayRef {
public:
    using value_type = T;
    using Shared = std::shared_ptr<const std::vector<T>>;
    ArrayRef() : ArrayRef(std::vector<T>()) {}
    ArrayRef(std::vector<T> items) : items_(std::make_shared<const std::vector<T>>(std::move(items))) {}
    explicit ArrayRef(Shared items) : items_(std::move(items)) {}
    ArrayRef(std::initializer_list<T> items) : ArrayRef(std::vector<T>(items)) {}
    ArrayRef(const T& one) : ArrayRef(std::vector<T>{one}) {}
    ArrayRef(const T* data, size_t count) : ArrayRef(std::vector<T>(data, data + count)) {}
    template <size_t N> ArrayRef(const std::array<T, N>& items) : ArrayRef(std::vector<T>(items.begin(), items.end())) {}
    auto begin() const { return items_->begin(); }
    auto end() const { return items_->end(); }
    auto rbegin() const { return items_->rbegin(); }
    auto rend() const { return items_->rend(); }
    size_t size() const { return items_->size(); }
    bool empty() const { return items_->empty(); }
    decltype(auto) operator[](size_t i) const { return (*items_)[i]; }
    decltype(auto) at(size_t i) const { return items_->at(i); }
    decltype(auto) front() const { return items_->front(); }
    decltype(auto) back() const { return items_->back(); }
    const T* data() const { return items_->data(); }
    const std::vector<T>& vec() const { return *items_; }
    ArrayRef slice(size_t from, size_t count) const { return std::vector<T>(begin() + from, begin() + from + count); }
    ArrayRef slice(size_t from) const { return slice(from, size() - from); }
    bool equals(const ArrayRef& other) const { return vec() == other.vec(); }
    bool operator==(const ArrayRef& other) const { return equals(other); }
    operator const std::vector<T>&() const { return *items_; }

private:
    Shared items_;
};
using IntArrayRef = ArrayRef<int64_t>;
template <typename T> std::ostream& operator<<(std::ostream& out, const ArrayRef<T>& items) {
    out << '[';
    for (size_t i = 0; i < items.size(); ++i) out << (i ? ", " : "") << items[i];
    return out << ']';
}

class Scalar {
public:
    Scalar() : value_(int64_t(0)) {}
    Scalar(bool v) : value_(v) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    Scalar(T v) : value_(int64_t(v)) {}
    template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0> Scalar(T v) : value_(double(v)) {}
    bool isFloatingPoint() const { return std::holds_alternative<double>(value_); }
    bool isIntegral(bool includeBool = false) const {
        return std::holds_alternative<int64_t>(value_) || (includeBool && isBoolean());
    }
    bool isBoolean() const { return std::holds_alternative<bool>(value_); }
    template <typename T> T to() const {
        return std::visit([](auto v) { return static_cast<T>(v); }, value_);
    }
    double toDouble() const { return to<double>(); }
    float toFloat() const { return to<float>(); }
    int64_t toLong() const { return to<int64_t>(); }
    int toInt() const { return to<int>(); }
    bool toBool() const { return to<bool>(); }
    ScalarType type() const {
        return isFloatingPoint() ? ScalarType::Double : isBoolean() ? ScalarType::Bool : ScalarType::Long;
    }

private:
    std::variant<bool, int64_t, double> value_;
};

inline constexpr std::nullopt_t nullopt = std::nullopt;
template <typename T> using optional = std::optional<T>;

}  // namespace at
