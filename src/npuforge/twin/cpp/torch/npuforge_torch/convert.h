// SPDX-License-Identifier: Apache-2.0
// Values between C++ and Python.
#pragma once
#include <type_traits>

#include "types.h"

namespace at {
class Tensor;
}

namespace npuforge_torch {

inline Object to_python(const Object& value) { return value; }
inline Object to_python(bool value) { return Object::borrow(value ? Py_True : Py_False); }
template <typename T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
Object to_python(T value) {
    return Object::steal(PyLong_FromLongLong(static_cast<long long>(value)));
}
template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0> Object to_python(T value) {
    return Object::steal(PyFloat_FromDouble(static_cast<double>(value)));
}
inline Object to_python(const char* text) { return Object::steal(PyUnicode_FromString(text)); }
inline Object to_python(const std::string& text) {
    return Object::steal(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}
inline Object to_python(std::nullopt_t) { return Object::borrow(Py_None); }
inline Object to_python(at::ScalarType type) { return torch_module().attribute(at::python_name(type)); }
inline Object to_python(const at::Device&) { return to_python("cpu"); }
inline Object to_python(at::DeviceType) { return to_python("cpu"); }
inline Object to_python(const at::Scalar& s) {
    if (s.isBoolean()) return to_python(s.toBool());
    return s.isFloatingPoint() ? to_python(s.toDouble()) : to_python(s.toLong());
}
Object to_python(const at::Tensor& tensor);
template <typename T> Object to_python(const std::optional<T>& value);
template <typename T> Object to_python(const std::vector<T>& items);
template <typename T> Object to_python(const at::ArrayRef<T>& items);
template <typename T, size_t N> Object to_python(const std::array<T, N>& items);
template <typename... T> Object to_python(const std::tuple<T...>& items);

template <typename Range> Object list_of(const Range& items) {
    Object list = Object::steal(PyList_New(0));
    for (const auto& item : items) {
        const Object element = to_python(item);
        if (PyList_Append(list.get(), element.get()) != 0) Object::rethrow();
    }
    return list;
}
template <typename T> Object to_python(const std::optional<T>& value) {
    return value ? to_python(*value) : Object::borrow(Py_None);
}
template <typename T> Object to_python(const std::vector<T>& items) {
    if constexpr (std::is_same_v<T, bool>) {
        Object list = Object::steal(PyList_New(0));
        for (const bool item : items) PyList_Append(list.get(), item ? Py_True : Py_False);
        return list;
    } else {
        return list_of(items);
    }
}
template <typename T> Object to_python(const at::ArrayRef<T>& items) { return to_python(items.vec()); }
template <typename T, size_t N> Object to_python(const std::array<T, N>& items) { return list_of(items); }
template <typename... T> Object to_python(const std::tuple<T...>& items) {
    Object tuple = Object::steal(PyTuple_New(sizeof...(T)));
    Py_ssize_t i = 0;
    std::apply([&](const auto&... item) { (PyTuple_SET_ITEM(tuple.get(), i++, to_python(item).release()), ...); }, items);
    return tuple;
}

// from_python<T>::get(object); specialised by shape of T.
template <typename T, typename = void> struct from_python;
template <> struct from_python<bool> {
    static bool get(PyObject* o) { return PyObject_IsTrue(o) == 1; }
};
template <typename T>
struct from_python<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
    static T get(PyObject* o) {
        Object index = Object::steal(PyNumber_Index(o));
        return static_cast<T>(PyLong_AsLongLong(index.get()));
    }
};
template <typename T> struct from_python<T, std::enable_if_t<std::is_floating_point_v<T>>> {
    static T get(PyObject* o) {
        const double value = PyFloat_AsDouble(o);
        if (value == -1.0 && PyErr_Occurred()) Object::rethrow();
        return static_cast<T>(value);
    }
};
template <> struct from_python<std::string> {
    static std::string get(PyObject* o) {
        const char* text = PyUnicode_AsUTF8(o);
        if (text == nullptr) Object::rethrow();
        return text;
    }
};
template <> struct from_python<const char*> {
    static const char* get(PyObject* o) {
        const char* text = PyUnicode_AsUTF8(o);
        if (text == nullptr) Object::rethrow();
        return text;
    }
};
template <> struct from_python<at::Scalar> {
    static at::Scalar get(PyObject* o) {
        if (PyBool_Check(o)) return at::Scalar(o == Py_True);
        if (PyLong_Check(o)) return at::Scalar(static_cast<int64_t>(PyLong_AsLongLong(o)));
        return at::Scalar(from_python<double>::get(o));
    }
};
template <> struct from_python<at::ScalarType> {
    static at::ScalarType get(PyObject* o) {
        return at::scalar_type_named(from_python<std::string>::get(Object::steal(PyObject_Str(o)).get()));
    }
};
template <> struct from_python<at::Device> {
    static at::Device get(PyObject*) { return {}; }
};
template <typename T> struct from_python<std::optional<T>> {
    static std::optional<T> get(PyObject* o) {
        if (o == Py_None) return std::nullopt;
        return from_python<T>::get(o);
    }
};
template <typename T> struct from_python<std::vector<T>> {
    static std::vector<T> get(PyObject* o) {
        std::vector<T> items;
        Object sequence = Object::steal(PySequence_Fast(o, "a list is expected"));
        const Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence.get());
        for (Py_ssize_t i = 0; i < count; ++i)
            items.push_back(from_python<T>::get(PySequence_Fast_GET_ITEM(sequence.get(), i)));
        return items;
    }
};
template <typename T> struct from_python<at::ArrayRef<T>> {
    static at::ArrayRef<T> get(PyObject* o) {
        if (PyLong_Check(o)) return at::ArrayRef<T>(std::vector<T>{from_python<T>::get(o)});
        return at::ArrayRef<T>(from_python<std::vector<T>>::get(o));
    }
};

}  // namespace npuforge_torch
