// SPDX-License-Identifier: Apache-2.0
// The boundary of the high-level API: one plain descriptor per family, filled by the headers and
// worked off by the runtime as a single instruction of the vector pipe.
#pragma once
#include "../abi.h"

namespace npuforge {

// Temporary space of a call: the tensor the caller passed, or null for the free end of UB.
using Scratch = const Tile*;

// Elementwise functions: X(name). The order is the index into the runtime's table.
#define NPUFORGE_LIBRARY_FUNCTIONS(X)                                                              \
    X(Tanh) X(Sigmoid) X(Log) X(Log2) X(Log10) X(Exp) X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) \
    X(Sinh) X(Cosh) X(Asinh) X(Acosh) X(Atanh) X(Erf) X(Erfc) X(Floor) X(Ceil) X(Trunc) X(Round)   \
    X(Frac) X(Sign) X(Digamma) X(Lgamma) X(Gelu) X(FasterGelu) X(FasterGeluV2) X(Silu) X(Swish)    \
    X(ClampMax) X(ClampMin) X(Axpy) X(Fmod) X(Power) X(Xor) X(GeGLU) X(ReGlu) X(SwiGLU)

enum class LibraryFunction : uint8_t {
#define X(name) name,
    NPUFORGE_LIBRARY_FUNCTIONS(X)
#undef X
    Count
};

// dst = f(sources, scalar). A source without address is the scalar instead.
struct Elementwise {
    LibraryFunction function;
    Tile dst;
    Tile src[2];
    uint8_t sources = 1;
    Scalar scalar{};
    Scratch tmp = nullptr;
    uint32_t count = 0;
    bool reuse_source = false;
    bool in_place = false;  // the reference allows dst to be a source
};
void library_elementwise(const Elementwise& call);

// Rows of a softmax: `columns` of `stride` columns count; the rest is padding.
struct SoftmaxRows {
    uint32_t rows, stride;          // as stored
    uint32_t real_rows, columns;    // as meant
    bool nz = false;
    bool row_values_packed = false;  // sum and max hold one element per row instead of one block
    bool shape_given = true;
};
enum class SoftmaxKind : uint8_t { SoftMax, SimpleSoftMax, SoftmaxFlash, SoftmaxFlashV2, LogSoftMax };
struct Softmax {
    SoftmaxKind kind;
    SoftmaxRows shape;
    Tile dst, src;
    Tile sum, max;                   // no address: not wanted
    Tile exp_max, in_sum, in_max;    // flash forms
    Tile reduce_max;                 // flash v2 with the row maximum before the update
    bool update = false;
    bool basic_block = false;
    Scratch tmp = nullptr;
};
void library_softmax(const Softmax& call);

struct SoftmaxV3 {
    SoftmaxRows shape;
    Tile dst, src, exp_max, mean, sum, max, in_mean, in_sum, in_max;
    uint32_t loops, split;
    float alpha;
    bool update;
    Scratch tmp;
};
void library_softmax_v3(const SoftmaxV3& call);

struct SoftmaxGradient {
    SoftmaxRows shape;
    Tile dst, grad, src;
    bool front;
    const char* name;
    Scratch tmp;
};
void library_softmax_grad(const SoftmaxGradient& call);
// Sets rows whose maximum has the bit pattern `from` to `to`; true when there was one.
bool library_adjust_softmax(const SoftmaxRows& shape, const Tile& result, const Tile& max, uint32_t from, float to);

enum class ReduceKind : uint8_t { Sum, Mean, Max, Min, Prod, Any, All };
struct Reduce {
    const char* name;
    ReduceKind kind;
    Tile dst, src;
    uint32_t first, last;     // the two axes as meant
    uint32_t stride;          // elements from row to row
    bool reduce_first;        // pattern RA
    bool reuse_source = false;
    uint64_t least_tmp = 0;
    Scratch tmp = nullptr;
};
void library_reduce(const Reduce& call);
void library_reduce_xor_sum(const Tile& dst, const Tile& src0, const Tile& src1, uint32_t count, Scratch tmp,
                            bool reuse_source);

// Normalisation of `rows` rows of `columns` elements, `stride` apart, along the row.
struct RowNorm {
    const char* name;
    Tile dst, src;
    Tile mean, spread;          // spread: variance, or the reciprocal deviation
    Tile gamma, beta;           // no address: not applied
    Tile residual;              // DeepNorm: added to alpha * src
    Tile given_mean, given_variance;  // Normalize
    uint32_t rows, columns, stride;
    uint32_t columns_per_gamma = 0;   // GroupNorm: columns sharing one gamma; 0: one gamma per column
    uint32_t gamma_stride = 0;        // GroupNorm: elements from the columns of one gamma to the next's
    uint32_t gammas_per_row_step = 0; // GroupNorm: first gamma of row r is (r % groups) * this
    uint32_t groups = 1;
    float epsilon = 0, alpha = 0;
    bool spread_is_rstd = false;
    bool root_mean_square = false;    // RmsNorm: no mean is taken off
    bool reuse_source = false;
    bool in_place = true;
    uint64_t least_tmp = 0;
    Scratch tmp = nullptr;
};
void library_row_norm(const RowNorm& call);

struct BatchNormCall {
    Tile dst, mean, variance, src, gamma, beta;
    uint32_t batch, features, real_batch;
    float epsilon;
    bool reuse_source;
    Scratch tmp;
};
void library_batch_norm(const BatchNormCall& call);

struct LayerNormGradient {
    Tile dx, for_gamma, dy, x, variance, mean, gamma;
    uint32_t rows, columns, stride;
    float epsilon;
    bool reuse_source;
    Scratch tmp;
};
void library_layer_norm_grad(const LayerNormGradient& call);
void library_layer_norm_grad_beta(const Tile& dgamma, const Tile& dbeta, const Tile& for_gamma, const Tile& dy,
                                  uint32_t rows, uint32_t columns, uint32_t stride, Scratch tmp);

struct Welford {
    Tile out_mean, out_variance, mean, variance;
    Tile x;        // update
    Tile counts;   // finalize, optional
    uint32_t length, computed;
    float reciprocal;             // update: 1 / number of calls; finalize: of all samples
    float lanes_reciprocal = 0;   // finalize
    uint32_t rounds = 0, head_count = 0, head_length = 0, tail_count = 0;
    bool in_place = false, reuse_source = false;
    Scratch tmp = nullptr;
};
void library_welford_update(const Welford& call);
void library_welford_finalize(const Welford& call);

// dst[to[i]] = src[from[i]]; what of dst is not named is left undefined, or zero.
struct Permutation {
    const char* name;
    Tile dst, src;
    const uint32_t* to;
    const uint32_t* from;
    uint32_t count;
    uint32_t dst_elements, src_elements;  // as stored, with padding
    uint64_t least_tmp = 0;
    Scratch tmp = nullptr;
    bool rest_is_zero = false;
};
void library_permute(const Permutation& call);

// Repeats a row of `columns` (along the first axis) or each of `rows` values (along the last).
void library_broadcast(const Tile& dst, const Tile& src, uint32_t rows, uint32_t columns, bool first_axis,
                       bool last_axis, uint64_t least_tmp, Scratch tmp);

struct PadCall {
    const char* name;
    Tile dst, src;
    uint32_t height, src_width, src_step, dst_step;  // elements
    uint32_t left, right;
    int32_t value;
    uint64_t least_tmp;
    Scratch tmp;
};
void library_pad(const PadCall& call);

void library_arange(const Tile& dst, Scalar first, Scalar step, int32_t count, const char* name);

struct TopKCall {
    Tile values, indices, src, src_indices, finish;
    int32_t k, rows, stride, columns;
    bool has_indices, has_finish, largest, small;
    Scratch tmp;
};
void library_top_k(const TopKCall& call);

struct MaskedSelect {
    const char* name;
    Tile dst, src, mask;
    float other;
    uint32_t rows, columns, mask_columns;
    bool keep_where_zero;   // SelectWithBytesMask(tensor, scalar): zero keeps the tensor
    bool bits = false;      // DropOut: the mask is a bit per element
    float scale = 1;        // DropOut: kept values are multiplied with it
    bool clobbers_mask = false;
    uint64_t least_tmp = 0;
    Scratch tmp = nullptr;
};
void library_masked_select(const MaskedSelect& call);

struct Quantisation {
    const char* name;
    Tile dst, src;
    Tile scale, offset;              // no address: the numbers below
    float scale_value = 1, offset_value = 0;
    uint32_t rows = 0, columns = 0;  // of the data; `computed` of each row's columns are worked on
    uint32_t computed = 0, src_step = 0, dst_step = 0;
    uint32_t parameter_rows = 0, parameter_columns = 0;  // shape of scale and offset, spread over the data
    bool offset_first = false;       // (x + offset) * scale instead of x * scale + offset
    bool through_half = false;       // intermediate results are half
    bool in_place = false;
    uint64_t least_tmp = 0;
    Scratch tmp = nullptr;
};
void library_quantise(const Quantisation& call);

void library_cum_sum(const Tile& dst, const Tile& last_row, const Tile& src, uint32_t outer, uint32_t inner,
                     bool last_axis, bool reuse_source, uint64_t least_tmp, Scratch tmp);

}  // namespace npuforge
