// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of the high-level API.
#include <array>

#include "../host/npuforge_host/tmp_factors.h"
#include "adv_values.h"

namespace npuforge {
namespace {

using F = LibraryFunction;
constexpr size_t kFunctions = static_cast<size_t>(F::Count);
constexpr uint32_t kChunk = 512;

constexpr const char* kNames[] = {
#define X(name) #name,
    NPUFORGE_LIBRARY_FUNCTIONS(X)
#undef X
};

// Asymptotic series above 6, recurrence below, reflection for negative arguments.
float digamma(float x) {
    double z = x, sum = 0;
    if (z <= 0 && z == std::floor(z)) return std::numeric_limits<float>::quiet_NaN();
    if (z < 0) {
        sum = -M_PI / std::tan(M_PI * z);
        z = 1 - z;
    }
    while (z < 6) sum -= 1 / z, z += 1;
    const double r = 1 / z, r2 = r * r;
    const double series = r2 * (1.0 / 12 - r2 * (1.0 / 120 - r2 * (1.0 / 252 - r2 * (1.0 / 240 - r2 / 132))));
    return static_cast<float>(sum + std::log(z) - 0.5 * r - series);
}

float logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float gelu(float x) { return x / (1.0f + std::exp(-1.5957691216f * (x + 0.044715f * x * x * x))); }
float faster_gelu(float x) { return x / (1.0f + std::exp(-1.702f * x)); }

// A parabola up to |x| / sqrt(2) = 1.769, flat beyond.
float faster_gelu_v2(float x) {
    const float distance = std::min(0.7071f * std::fabs(x), 1.769f) - 1.769f;
    return x * (std::copysign(-0.1444f * distance * distance + 0.5f, x) + 0.5f);
}

using RowFn = void (*)(float* d, const float* a, const float* b, uint32_t n, float s);

// fn(a, b, scalar) applied to a row; unary functions ignore b and the scalar.
template <typename Fn> constexpr RowFn row(Fn) {
    return [](float* d, const float* a, const float* b, uint32_t n, float s) {
        for (uint32_t i = 0; i < n; ++i) d[i] = Fn()(a[i], b[i], s);
    };
}

const std::array<RowFn, kFunctions>& table() {
    static const auto rows = [] {
        std::array<RowFn, kFunctions> t{};
        const auto set = [&](F f, RowFn fn) { t[static_cast<size_t>(f)] = fn; };
        set(F::Tanh, row([](float a, float, float) { return std::tanh(a); }));
        set(F::Sigmoid, row([](float a, float, float) { return logistic(a); }));
        set(F::Log, row([](float a, float, float) { return std::log(a); }));
        set(F::Log2, row([](float a, float, float) { return std::log2(a); }));
        set(F::Log10, row([](float a, float, float) { return std::log10(a); }));
        set(F::Exp, row([](float a, float, float) { return std::exp(a); }));
        set(F::Sin, row([](float a, float, float) { return std::sin(a); }));
        set(F::Cos, row([](float a, float, float) { return std::cos(a); }));
        set(F::Tan, row([](float a, float, float) { return std::tan(a); }));
        set(F::Asin, row([](float a, float, float) { return std::asin(a); }));
        set(F::Acos, row([](float a, float, float) { return std::acos(a); }));
        set(F::Atan, row([](float a, float, float) { return std::atan(a); }));
        set(F::Sinh, row([](float a, float, float) { return std::sinh(a); }));
        set(F::Cosh, row([](float a, float, float) { return std::cosh(a); }));
        set(F::Asinh, row([](float a, float, float) { return std::asinh(a); }));
        set(F::Acosh, row([](float a, float, float) { return std::acosh(a); }));
        set(F::Atanh, row([](float a, float, float) { return std::atanh(a); }));
        set(F::Erf, row([](float a, float, float) { return std::erf(a); }));
        set(F::Erfc, row([](float a, float, float) { return std::erfc(a); }));
        set(F::Floor, row([](float a, float, float) { return std::floor(a); }));
        set(F::Ceil, row([](float a, float, float) { return std::ceil(a); }));
        set(F::Trunc, row([](float a, float, float) { return std::trunc(a); }));
        set(F::Round, row([](float a, float, float) { return std::nearbyint(a); }));
        set(F::Frac, row([](float a, float, float) { return a - std::trunc(a); }));
        set(F::Sign, row([](float a, float, float) { return static_cast<float>((a > 0) - (a < 0)); }));
        set(F::Digamma, row([](float a, float, float) { return digamma(a); }));
        set(F::Lgamma, row([](float a, float, float) { return static_cast<float>(std::lgamma(static_cast<double>(a))); }));
        set(F::Gelu, row([](float a, float, float) { return gelu(a); }));
        set(F::FasterGelu, row([](float a, float, float) { return faster_gelu(a); }));
        set(F::FasterGeluV2, row([](float a, float, float) { return faster_gelu_v2(a); }));
        set(F::Silu, row([](float a, float, float) { return a * logistic(a); }));
        set(F::Swish, row([](float a, float, float s) { return a * logistic(s * a); }));
        set(F::ClampMax, row([](float a, float, float s) { return a > s ? s : a; }));
        set(F::ClampMin, row([](float a, float, float s) { return a < s ? s : a; }));
        set(F::Axpy, row([](float a, float b, float s) { return b + a * s; }));
        set(F::Fmod, row([](float a, float b, float) { return std::fmod(a, b); }));
        set(F::Power, row([](float a, float b, float) { return std::pow(a, b); }));
        set(F::GeGLU, row([](float a, float b, float) { return a * gelu(b); }));
        set(F::ReGlu, row([](float a, float b, float) { return a * std::max(b, 0.0f); }));
        set(F::SwiGLU, row([](float a, float b, float s) { return a * b * logistic(s * b); }));
        return t;
    }();
    return rows;
}

// Live buffers of the input's size that a function keeps in temporary space; zero: none.
uint64_t least_scratch(F function, DType type, bool reuse, bool both_tensors) {
    const bool single = dtype_bytes(type) == 4;
    switch (function) {
#define NPUFORGE_CASE(name, half, single_factor, reused) \
    case F::name: return 256ull * (!single ? half : reuse ? reused : single_factor);
        NPUFORGE_TMP_FACTORS(NPUFORGE_CASE)
#undef NPUFORGE_CASE
        case F::Exp: return 256ull * (!single ? 4 : reuse ? 2 : 3);
        case F::Acosh: return 256ull * (single ? 1 : 2);
        case F::Log2: return single ? 0 : 256;
        case F::ClampMax: case F::ClampMin: return single ? 64 : 128;
        case F::Gelu: case F::FasterGelu: case F::FasterGeluV2: return 3 * 256;
        case F::SwiGLU: return single ? 0 : 6 * 256;
        case F::ReGlu: return 256ull * (single ? 1 : 6);
        case F::Power:
            if (type == DType::I32) return 256ull * (both_tensors ? 6 : 7);
            return single ? 256ull * (both_tensors ? 4 : 5) + 256 : 128ull * 14 + 256;
        default: return 0;
    }
}

int32_t integer_power(int32_t base, int32_t exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    uint32_t result = 1, factor = static_cast<uint32_t>(base);
    for (auto e = static_cast<uint32_t>(exponent); e != 0; e >>= 1, factor *= factor)
        if (e & 1) result *= factor;
    return static_cast<int32_t>(result);
}

void integer_values(const Elementwise& call) {
    if (call.function == F::Xor) {
        const auto* a = static_cast<const uint16_t*>(call.src[0].addr);
        const auto* b = static_cast<const uint16_t*>(call.src[1].addr);
        auto* d = static_cast<uint16_t*>(call.dst.addr);
        for (uint32_t i = 0; i < call.count; ++i) d[i] = static_cast<uint16_t>(a[i] ^ b[i]);
        return;
    }
    const auto* a = static_cast<const int32_t*>(call.src[0].addr);
    const auto* b = static_cast<const int32_t*>(call.src[1].addr);
    const auto scalar = static_cast<int32_t>(call.scalar.l);
    auto* d = static_cast<int32_t*>(call.dst.addr);
    for (uint32_t i = 0; i < call.count; ++i)
        d[i] = integer_power(a != nullptr ? a[i] : scalar, b != nullptr ? b[i] : scalar);
}

void float_values(const Elementwise& call) {
    const RowFn fn = table()[static_cast<size_t>(call.function)];
    float a[kChunk], b[kChunk], d[kChunk];
    std::fill_n(a, kChunk, call.scalar.f);
    std::fill_n(b, kChunk, call.scalar.f);
    for (uint32_t i = 0; i < call.count; i += kChunk) {
        const uint32_t n = std::min(kChunk, call.count - i);
        if (present(call.src[0])) load(call.src[0], i, n, a);
        if (call.sources == 2 && present(call.src[1])) load(call.src[1], i, n, b);
        fn(d, a, b, n, call.scalar.f);
        store(call.dst, i, n, d);
    }
}

}  // namespace

void library_elementwise(const Elementwise& call) {
    LibraryCall instr(kNames[static_cast<size_t>(call.function)], NPUFORGE_SITE());
    const uint32_t count = call.count;
    const bool both = call.sources == 2 && present(call.src[0]) && present(call.src[1]);
    instr.scratch(call.tmp, least_scratch(call.function, call.dst.type, call.reuse_source, both));
    for (int i = 0; i < call.sources; ++i) {
        const Tile& src = call.src[i];
        if (!present(src)) continue;
        const char* role = call.sources == 1 ? "src" : i == 0 ? "src0" : "src1";
        instr.requires_that(bytes_of(src.type, count) <= src.room, "count exceeds the source tensor", count);
        instr.reads(src, count, role);
        if (!call.in_place && call.function != F::Axpy) instr.apart(call.dst, count, "dst", src, count, role);
        if (call.reuse_source && dtype_bytes(src.type) == 4) instr.spoils(src, count, role);
    }
    if (call.function == F::Axpy) instr.apart(call.dst, count, "dst", call.src[0], count, "src");
    instr.writes(call.dst, count, "dst");
    if (!instr.commit(dtype_bytes(call.dst.type), count)) return;
    if (call.dst.type == DType::I32 || call.function == F::Xor) integer_values(call);
    else float_values(call);
}

}  // namespace npuforge
