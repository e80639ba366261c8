// SPDX-License-Identifier: Apache-2.0
// A thin stand-in for the C++ side of PyTorch: tensors are Python tensors, and every operation is a
// call of the Python function of the same name. Binding code compiles in a second instead of half a
// minute, and computes with the real PyTorch.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace npuforge_torch {

// An owned reference to a Python object.
class Object {
public:
    Object() = default;
    static Object steal(PyObject* object) {
        if (object == nullptr) rethrow();
        Object result;
        result.object_ = object;
        return result;
    }
    static Object borrow(PyObject* object) {
        Py_XINCREF(object);
        Object result;
        result.object_ = object;
        return result;
    }
    Object(const Object& other) : object_(other.object_) { Py_XINCREF(object_); }
    Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Object& operator=(Object other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    // A binding's static objects are destroyed after the interpreter has ended.
    ~Object() {
        if (Py_IsInitialized()) Py_XDECREF(object_);
    }
    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    bool none() const { return object_ == nullptr || object_ == Py_None; }
    Object attribute(const char* name) const { return steal(PyObject_GetAttrString(object_, name)); }

    // Turns the pending Python error into a C++ one; the module boundary turns it back.
    [[noreturn]] static void rethrow() {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        std::string text = "Python error";
        if (value != nullptr) {
            if (PyObject* as_text = PyObject_Str(value)) {
                if (const char* utf8 = PyUnicode_AsUTF8(as_text)) text = utf8;
                Py_DECREF(as_text);
            }
        }
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        PyErr_Clear();
        throw std::runtime_error(text);
    }

private:
    PyObject* object_ = nullptr;
};

inline Object import_module(const char* name) { return Object::steal(PyImport_ImportModule(name)); }

// Kept for the life of the process: the interpreter is gone before static objects are destroyed.
inline const Object& torch_module() {
    static const Object* module = new Object(import_module("torch"));
    return *module;
}

}  // namespace npuforge_torch
