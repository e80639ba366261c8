// SPDX-License-Identifier: Apache-2.0
// PYBIND11_MODULE and TORCH_LIBRARY over the plain C API of Python.
#pragma once
#include <functional>
#include <memory>

#include "tensor.h"

namespace npuforge_torch {

struct ArgumentName {
    std::string name;
    std::optional<Object> otherwise;
    template <typename T> ArgumentName operator=(const T& value) const {
        ArgumentName with = *this;
        with.otherwise = to_python(value);
        return with;
    }
};

struct BoundFunction {
    std::string name, doc;
    std::vector<ArgumentName> names;
    std::function<Object(const std::vector<PyObject*>&)> call;
    size_t arity = 0;
    PyMethodDef definition{};
};

template <typename R, typename... A, typename F, size_t... I>
Object invoke(F& function, const std::vector<PyObject*>& arguments, std::index_sequence<I...>) {
    std::tuple<std::decay_t<A>...> values{from_python<std::decay_t<A>>::get(arguments[I])...};
    if constexpr (std::is_void_v<R>) {
        function(static_cast<A>(std::get<I>(values))...);
        return Object::borrow(Py_None);
    } else {
        return to_python(function(static_cast<A>(std::get<I>(values))...));
    }
}

template <typename R, typename... A, typename F> void bind(BoundFunction& bound, F function) {
    bound.arity = sizeof...(A);
    bound.call = [function](const std::vector<PyObject*>& arguments) mutable {
        return invoke<R, A...>(function, arguments, std::index_sequence_for<A...>());
    };
}
template <typename R, typename... A> void bind_any(BoundFunction& bound, R (*function)(A...)) { bind<R, A...>(bound, function); }
template <typename F, typename R, typename... A> void bind_member(BoundFunction& bound, F function, R (F::*)(A...) const) {
    bind<R, A...>(bound, function);
}
template <typename F> void bind_any(BoundFunction& bound, F function) { bind_member(bound, function, &F::operator()); }

inline PyObject* call_bound(PyObject* self, PyObject* args, PyObject* keywords) {
    auto* bound = static_cast<BoundFunction*>(PyCapsule_GetPointer(self, nullptr));
    try {
        std::vector<PyObject*> values(bound->arity, nullptr);
        const auto given = static_cast<size_t>(PyTuple_GET_SIZE(args));
        if (given > bound->arity) throw std::runtime_error(bound->name + " takes " + std::to_string(bound->arity) + " arguments");
        for (size_t i = 0; i < given; ++i) values[i] = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i));
        for (size_t i = 0; i < bound->arity; ++i) {
            if (values[i] != nullptr) continue;
            if (i < bound->names.size()) {
                if (keywords != nullptr) values[i] = PyDict_GetItemString(keywords, bound->names[i].name.c_str());
                if (values[i] == nullptr && bound->names[i].otherwise) values[i] = bound->names[i].otherwise->get();
            }
            if (values[i] == nullptr) throw std::runtime_error(bound->name + ": argument " + std::to_string(i + 1) + " is missing");
        }
        return bound->call(values).release();
    } catch (const std::exception& problem) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, problem.what());
        return nullptr;
    }
}

class Module {
public:
    explicit Module(PyObject* module) : module_(module) {}
    template <typename F, typename... Extra> Module& def(const char* name, F&& function, const Extra&... extra) {
        auto* bound = new BoundFunction();  // lives as long as the module does
        bound->name = name;
        (note(*bound, extra), ...);
        bind_any(*bound, std::decay_t<F>(function));
        bound->definition = {bound->name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_bound)),
                             METH_VARARGS | METH_KEYWORDS, bound->doc.c_str()};
        Object self = Object::steal(PyCapsule_New(bound, nullptr, nullptr));
        PyModule_AddObject(module_, name, Object::steal(PyCFunction_New(&bound->definition, self.get())).release());
        return *this;
    }
    struct Doc {
        Doc& operator=(const char*) { return *this; }
        Doc& operator=(const std::string&) { return *this; }
    };
    Doc doc() { return {}; }
    struct Attribute {
        PyObject* module;
        std::string name;
        template <typename T> Attribute& operator=(const T& value) {
            PyModule_AddObject(module, name.c_str(), to_python(value).release());
            return *this;
        }
    };
    Attribute attr(const char* name) { return {module_, name}; }

private:
    static void note(BoundFunction& bound, const char* doc) { bound.doc = doc; }
    static void note(BoundFunction& bound, const std::string& doc) { bound.doc = doc; }
    static void note(BoundFunction& bound, const ArgumentName& name) { bound.names.push_back(name); }
    template <typename T> static void note(BoundFunction&, const T&) {}
    PyObject* module_;
};

// TORCH_LIBRARY blocks: operators become callable as torch.ops.NAMESPACE.NAME on CPU tensors.
class Library {
public:
    explicit Library(const char* name) : name_(name) {}
    Library& def(const char* schema) {
        call_object(bridge().attribute("define_operator"), std::string(name_), std::string(schema));
        return *this;
    }
    template <typename F> Library& def(const char*, F&&) { return *this; }
    template <typename F> Library& impl(const char* name, F&& function) {
        Module holder(PyImport_AddModule("npuforge_torch_library"));
        const std::string unique = std::string(name_) + "_" + name;
        holder.def(unique.c_str(), function);
        const Object bound = Object::borrow(PyImport_AddModule("npuforge_torch_library")).attribute(unique.c_str());
        call_object(bridge().attribute("implement_operator"), std::string(name_), std::string(name), bound);
        return *this;
    }

private:
    static Object bridge() { return import_module("npuforge_bridge"); }
    const char* name_;
};

}  // namespace npuforge_torch

namespace pybind11 {
using module_ = npuforge_torch::Module;
using module = npuforge_torch::Module;
struct arg : npuforge_torch::ArgumentName {
    explicit arg(const char* argument) { name = argument; }
    using npuforge_torch::ArgumentName::operator=;
};
struct gil_scoped_release {};
template <typename... T> struct call_guard {};
inline npuforge_torch::Object none() { return npuforge_torch::Object::borrow(Py_None); }
namespace literals {
inline arg operator""_a(const char* text, size_t) { return arg(text); }
}
}  // namespace pybind11
namespace py = pybind11;

#define NPUFORGE_PASTE(a, b) NPUFORGE_PASTE_(a, b)
#define NPUFORGE_PASTE_(a, b) a##b

#define PYBIND11_MODULE(name, variable)                                                             \
    static void NPUFORGE_PASTE(npuforge_fill_, name)(npuforge_torch::Module&);                       \
    extern "C" __attribute__((visibility("default"))) PyObject* NPUFORGE_PASTE(PyInit_, name)() {    \
        static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "extension", nullptr, -1, nullptr,   \
                                         nullptr, nullptr, nullptr, nullptr};                        \
        PyObject* created = PyModule_Create(&definition);                                            \
        if (created == nullptr) return nullptr;                                                      \
        npuforge_torch::Module wrapped(created);                                                     \
        try {                                                                                        \
            NPUFORGE_PASTE(npuforge_fill_, name)(wrapped);                                           \
        } catch (const std::exception& problem) {                                                    \
            PyErr_SetString(PyExc_ImportError, problem.what());                                      \
            return nullptr;                                                                          \
        }                                                                                            \
        return created;                                                                              \
    }                                                                                                \
    static void NPUFORGE_PASTE(npuforge_fill_, name)(npuforge_torch::Module & variable)

#define NPUFORGE_LIBRARY(space, unique, variable)                                        \
    static void NPUFORGE_PASTE(npuforge_library_, unique)(npuforge_torch::Library&);     \
    static const bool NPUFORGE_PASTE(npuforge_registered_, unique) = [] {                \
        npuforge_torch::Library library(#space);                                         \
        NPUFORGE_PASTE(npuforge_library_, unique)(library);                              \
        return true;                                                                     \
    }();                                                                                 \
    static void NPUFORGE_PASTE(npuforge_library_, unique)(npuforge_torch::Library & variable)
#define TORCH_LIBRARY(space, variable) NPUFORGE_LIBRARY(space, NPUFORGE_PASTE(space, __LINE__), variable)
#define TORCH_LIBRARY_FRAGMENT(space, variable) NPUFORGE_LIBRARY(space, NPUFORGE_PASTE(space, __LINE__), variable)
#define TORCH_LIBRARY_IMPL(space, key, variable) NPUFORGE_LIBRARY(space, NPUFORGE_PASTE(space, __LINE__), variable)
#define TORCH_FN(function) (&function)

#ifdef NPUFORGE_DIRECT_EXTENSION
#include "device_memory.h"
#endif
