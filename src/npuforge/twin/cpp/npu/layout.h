// SPDX-License-Identifier: Apache-2.0
// Shape, stride and layout as tuples of numbers.
#pragma once
#include <tuple>

namespace AscendC {

template <typename... Ts> using Shape = std::tuple<Ts...>;
template <typename... Ts> using Stride = std::tuple<Ts...>;
template <typename... Ts> constexpr Shape<Ts...> MakeShape(const Ts&... ts) { return {ts...}; }
template <typename... Ts> constexpr Stride<Ts...> MakeStride(const Ts&... ts) { return {ts...}; }

template <typename ShapeType, typename StrideType> struct Layout {
    constexpr Layout(const ShapeType& shape = {}, const StrideType& stride = {}) : shape_(shape), stride_(stride) {}
    constexpr auto& GetShape() { return shape_; }
    constexpr const auto& GetShape() const { return shape_; }
    constexpr auto& GetStride() { return stride_; }
    constexpr const auto& GetStride() const { return stride_; }

private:
    ShapeType shape_;
    StrideType stride_;
};
template <typename T, typename U> constexpr Layout<T, U> MakeLayout(const T& shape, const U& stride) { return {shape, stride}; }

}  // namespace AscendC
