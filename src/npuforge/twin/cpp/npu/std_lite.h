// SPDX-License-Identifier: Apache-2.0
// AscendC::Std, the part of the standard library that device code may use, and type helpers.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "scalar.h"

namespace AscendC {

namespace Std {

using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::enable_if;
using std::enable_if_t;
using std::extent;
using std::false_type;
using std::forward;
using std::get;
using std::index_sequence;
using std::index_sequence_for;
using std::integer_sequence;
using std::integral_constant;
using std::is_array;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_const;
using std::is_constant_evaluated;
using std::is_convertible;
using std::is_convertible_v;
using std::is_integral;
using std::is_integral_v;
using std::is_lvalue_reference;
using std::is_pointer;
using std::is_reference;
using std::is_same;
using std::is_same_v;
using std::is_void;
using std::make_index_sequence;
using std::make_tuple;
using std::move;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_cvref;
using std::remove_cvref_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::swap;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_element;
using std::tuple_element_t;
using std::tuple_size;
using std::tuple_size_v;
using std::abs;
using std::sqrt;

// Device floating types count as floating.
template <typename T> struct is_floating_point
    : std::bool_constant<std::is_floating_point_v<T> || std::is_same_v<std::remove_cv_t<T>, half> || std::is_same_v<std::remove_cv_t<T>, bfloat16_t>> {};
template <typename T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <size_t N> using Int = std::integral_constant<size_t, N>;

template <typename T, typename U> constexpr T max(const T a, const U b) { return a < static_cast<T>(b) ? static_cast<T>(b) : a; }
template <typename T, typename U> constexpr T min(const T a, const U b) { return static_cast<T>(b) < a ? static_cast<T>(b) : a; }

}  // namespace Std

template <typename T, typename U> struct IsSameType {
    static constexpr bool value = std::is_same_v<T, U>;
};
template <typename T, typename U> constexpr bool IsSameTypeV = IsSameType<T, U>::value;
template <typename T, typename... Allowed> constexpr bool SupportType() { return (std::is_same_v<T, Allowed> || ...); }
template <typename T> using PrimT = T;
template <bool condition, typename T, typename F> struct Conditional : std::conditional<condition, T, F> {};
template <bool condition, typename T, typename F> using ConditionType = std::conditional_t<condition, T, F>;

}  // namespace AscendC
