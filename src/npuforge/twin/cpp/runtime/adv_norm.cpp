// SPDX-License-Identifier: Apache-2.0
// Normalisation along rows (layer, group, deep, root mean square) and over the batch, and the
// backward pass of layer normalisation.
#include "adv_values.h"

namespace npuforge {
namespace {

struct Moments {
    float mean, variance;
};

Moments moments(const float* values, uint32_t count) {
    double sum = 0, square = 0;
    for (uint32_t i = 0; i < count; ++i) sum += values[i];
    const double mean = sum / count;
    for (uint32_t i = 0; i < count; ++i) square += (values[i] - mean) * (values[i] - mean);
    return {static_cast<float>(mean), static_cast<float>(square / count)};
}

float mean_square(const float* values, uint32_t count) {
    double square = 0;
    for (uint32_t i = 0; i < count; ++i) square += double(values[i]) * values[i];
    return static_cast<float>(square / count);
}

void describe(LibraryCall& instr, const RowNorm& call) {
    const uint64_t stored = uint64_t(call.rows) * call.stride;
    const uint32_t gammas = call.columns_per_gamma == 0 ? call.columns : call.groups * call.gammas_per_row_step;
    instr.requires_that(call.columns <= call.stride, "a row is longer than its padded length", call.columns);
    if (call.columns_per_gamma == 0)
        instr.requires_that(bytes_of(call.src.type, call.stride) % 32 == 0, "the last axis is not a multiple of 32 bytes",
                            call.stride);
    instr.requires_that(bytes_of(call.src.type, stored) <= call.src.room, "the tiling's shape exceeds the source tensor", stored);
    instr.scratch(call.tmp, call.least_tmp);
    // GroupNorm's rows consist of stretches, one per gamma.
    const bool split = call.columns_per_gamma != 0 && call.gamma_stride != call.columns_per_gamma;
    const uint32_t stretch = split ? call.columns_per_gamma : call.columns, step = split ? call.gamma_stride : call.stride;
    const uint32_t stretches = split ? call.rows * (call.columns / stretch) : call.rows;
    instr.reads_rows(call.src, 0, stretches, stretch, step, "src");
    instr.reads_rows(call.residual, 0, call.rows, call.columns, call.stride, "gx");
    instr.reads(call.gamma, gammas, "gamma");
    instr.reads(call.beta, gammas, "beta");
    instr.reads(call.given_mean, call.rows, "inputMean");
    instr.reads(call.given_variance, call.rows, "inputVariance");
    if (!call.in_place) instr.apart(call.dst, stored, "dst", call.src, stored, "src");
    instr.apart(call.dst, stored, "dst", call.gamma, gammas, "gamma");
    if (call.reuse_source) instr.spoils(call.src, stored, "src");
    instr.writes_rows(call.dst, 0, stretches, stretch, step, "dst");
    instr.spoils_rows(call.dst, stretch, stretches, step - stretch, step, "dst");
    instr.writes(call.mean, call.rows, "outputMean");
    instr.writes(call.spread, call.rows, call.spread_is_rstd ? "outputRstd" : "outputVariance");
}

}  // namespace

void library_row_norm(const RowNorm& call) {
    LibraryCall instr(call.name, NPUFORGE_SITE());
    if (g_mode != 0) describe(instr, call);
    if (!instr.commit(dtype_bytes(call.src.type), uint64_t(call.rows) * call.stride, call.rows)) return;

    std::vector<float> line(call.columns), residual(call.columns);
    const auto parameter = [&](const Tile& tile, uint32_t row, uint32_t column) {
        if (call.columns_per_gamma == 0) return load_one(tile, column);
        return load_one(tile, (row % call.groups) * call.gammas_per_row_step + column / call.columns_per_gamma);
    };
    const uint32_t stretch = call.columns_per_gamma != 0 ? call.columns_per_gamma : call.columns;
    const uint32_t step = call.columns_per_gamma != 0 ? call.gamma_stride : call.columns;
    for (uint32_t r = 0; r < call.rows; ++r) {
        const uint64_t start = uint64_t(r) * call.stride;
        for (uint32_t c = 0; c < call.columns; c += stretch)
            load(call.src, start + uint64_t(c / stretch) * step, stretch, &line[c]);
        if (present(call.residual)) {
            load(call.residual, uint64_t(r) * call.stride, call.columns, residual.data());
            for (uint32_t c = 0; c < call.columns; ++c) line[c] = call.alpha * line[c] + residual[c];
        }
        Moments m{};
        if (call.root_mean_square) m = {0, mean_square(line.data(), call.columns)};
        else if (present(call.given_mean)) m = {load_one(call.given_mean, r), load_one(call.given_variance, r)};
        else m = moments(line.data(), call.columns);
        const float rstd = 1.0f / std::sqrt(m.variance + call.epsilon);
        for (uint32_t c = 0; c < call.columns; ++c) {
            float value = (line[c] - m.mean) * rstd;
            if (present(call.gamma)) value *= parameter(call.gamma, r, c);
            if (present(call.beta)) value += parameter(call.beta, r, c);
            line[c] = value;
        }
        for (uint32_t c = 0; c < call.columns; c += stretch)
            store(call.dst, start + uint64_t(c / stretch) * step, stretch, &line[c]);
        if (present(call.mean)) store_one(call.mean, r, m.mean);
        if (present(call.spread)) store_one(call.spread, r, call.spread_is_rstd ? rstd : m.variance);
    }
}

void library_batch_norm(const BatchNormCall& call) {
    LibraryCall instr("BatchNorm", NPUFORGE_SITE());
    const uint64_t all = uint64_t(call.batch) * call.features;
    instr.requires_that(bytes_of(call.src.type, call.features) % 32 == 0, "S x H is not a multiple of 32 bytes", call.features);
    instr.scratch(call.tmp, 0);
    instr.reads(call.src, all, "inputX");
    instr.reads(call.gamma, call.batch, "gamm");
    instr.reads(call.beta, call.batch, "beta");
    if (call.reuse_source) instr.spoils(call.src, all, "inputX");
    instr.writes(call.dst, all, "output");
    instr.writes(call.mean, call.features, "outputMean");
    instr.writes(call.variance, call.features, "outputVariance");
    if (!instr.commit(dtype_bytes(call.src.type), all, call.features)) return;

    std::vector<float> values(all), column(call.batch);
    load(call.src, 0, all, values.data());
    for (uint32_t f = 0; f < call.features; ++f) {
        for (uint32_t b = 0; b < call.real_batch; ++b) column[b] = values[uint64_t(b) * call.features + f];
        const Moments m = moments(column.data(), call.real_batch);
        const float rstd = 1.0f / std::sqrt(m.variance + call.epsilon);
        for (uint32_t b = 0; b < call.batch; ++b) {
            float& value = values[uint64_t(b) * call.features + f];
            value = (value - m.mean) * rstd * load_one(call.gamma, b) + load_one(call.beta, b);
        }
        store_one(call.mean, f, m.mean);
        store_one(call.variance, f, m.variance);
    }
    store(call.dst, 0, all, values.data());
}

void library_layer_norm_grad(const LayerNormGradient& call) {
    LibraryCall instr("LayerNormGrad", NPUFORGE_SITE());
    const uint64_t all = uint64_t(call.rows) * call.stride;
    instr.scratch(call.tmp, 0);
    instr.reads_rows(call.dy, 0, call.rows, call.columns, call.stride, "inputDy");
    instr.reads_rows(call.x, 0, call.rows, call.columns, call.stride, "inputX");
    instr.reads(call.variance, call.rows, "inputVariance");
    instr.reads(call.mean, call.rows, "inputMean");
    instr.reads(call.gamma, call.columns, "inputGamma");
    if (call.reuse_source) {
        instr.spoils(call.dy, all, "inputDy");
        instr.spoils(call.x, all, "inputX");
    }
    instr.writes(call.dx, all, "outputPdX");
    instr.writes(call.for_gamma, all, "resForGamma");
    if (!instr.commit(dtype_bytes(call.x.type), all, call.rows)) return;

    std::vector<float> dy(call.stride), x(call.stride), gamma(call.stride);
    load(call.gamma, 0, call.columns, gamma.data());
    const float columns = static_cast<float>(call.columns);
    for (uint32_t r = 0; r < call.rows; ++r) {
        load(call.dy, uint64_t(r) * call.stride, call.stride, dy.data());
        load(call.x, uint64_t(r) * call.stride, call.stride, x.data());
        const float mean = load_one(call.mean, r);
        const float rstd = 1.0f / std::sqrt(load_one(call.variance, r) + call.epsilon);
        double d_variance = 0, d_mean = 0, centred = 0;
        for (uint32_t c = 0; c < call.columns; ++c) {
            const double g = double(dy[c]) * gamma[c];
            d_variance += -0.5 * g * (x[c] - mean) * rstd * rstd * rstd;
            d_mean += -g * rstd;
            centred += -2.0 * (x[c] - mean);
        }
        d_mean += d_variance * centred / columns;
        for (uint32_t c = 0; c < call.stride; ++c) {
            const float offset = x[c] - mean, g = dy[c] * gamma[c];
            dy[c] = g * rstd + static_cast<float>(d_variance * 2.0 / columns) * offset + static_cast<float>(d_mean / columns);
            x[c] = offset * rstd;
        }
        store(call.dx, uint64_t(r) * call.stride, call.stride, dy.data());
        store(call.for_gamma, uint64_t(r) * call.stride, call.stride, x.data());
    }
}

void library_layer_norm_grad_beta(const Tile& dgamma, const Tile& dbeta, const Tile& for_gamma, const Tile& dy,
                                  uint32_t rows, uint32_t columns, uint32_t stride, Scratch tmp) {
    LibraryCall instr("LayerNormGradBeta", NPUFORGE_SITE());
    const uint64_t all = uint64_t(rows) * stride;
    instr.scratch(tmp, 0);
    instr.reads_rows(for_gamma, 0, rows, columns, stride, "resForGamma");
    instr.reads_rows(dy, 0, rows, columns, stride, "inputDy");
    instr.writes(dgamma, columns, "outputPdGamma");
    instr.writes(dbeta, columns, "outputPdBeta");
    if (!instr.commit(dtype_bytes(dy.type), all, rows)) return;

    std::vector<float> scale(columns), gradient(columns);
    std::vector<double> gamma_sum(columns, 0.0), beta_sum(columns, 0.0);
    for (uint32_t r = 0; r < rows; ++r) {
        load(for_gamma, uint64_t(r) * stride, columns, scale.data());
        load(dy, uint64_t(r) * stride, columns, gradient.data());
        for (uint32_t c = 0; c < columns; ++c) {
            gamma_sum[c] += double(scale[c]) * gradient[c];
            beta_sum[c] += gradient[c];
        }
    }
    for (uint32_t c = 0; c < columns; ++c) {
        store_one(dgamma, c, static_cast<float>(gamma_sum[c]));
        store_one(dbeta, c, static_cast<float>(beta_sum[c]));
    }
}

void library_welford_update(const Welford& call) {
    LibraryCall instr("WelfordUpdate", NPUFORGE_SITE());
    instr.requires_that(call.computed > 0 && call.computed <= call.length, "abComputeLength is not within abLength",
                        call.computed);
    instr.requires_that(bytes_of(call.x.type, call.length) % 32 == 0, "abLength is not a multiple of 32 bytes", call.length);
    instr.scratch(call.tmp, 0);
    instr.reads(call.x, call.computed, "inputX");
    instr.reads(call.mean, call.in_place ? call.length : call.computed, "inputMean");
    instr.reads(call.variance, call.in_place ? call.length : call.computed, "inputVariance");
    if (call.reuse_source) instr.spoils(call.x, call.length, "inputX");
    instr.writes(call.out_mean, call.in_place ? call.length : call.computed, "outputMean");
    instr.writes(call.out_variance, call.in_place ? call.length : call.computed, "outputVariance");
    if (!instr.commit(4, call.computed)) return;
    for (uint32_t i = 0; i < call.length; ++i) {
        if (i >= call.computed && !call.in_place) break;
        float mean = load_one(call.mean, i), variance = load_one(call.variance, i);
        if (i < call.computed) {
            const float delta = load_one(call.x, i) - mean;
            mean += delta * call.reciprocal;
            variance += delta * (load_one(call.x, i) - mean);
        }
        store_one(call.out_mean, i, mean);
        store_one(call.out_variance, i, variance);
    }
}

void library_welford_finalize(const Welford& call) {
    LibraryCall instr("WelfordFinalize", NPUFORGE_SITE());
    instr.requires_that(call.length % 8 == 0, "abLength is not a multiple of 8", call.length);
    instr.scratch(call.tmp, 0);
    instr.reads(call.mean, call.length, "inputMean");
    instr.reads(call.variance, call.length, "inputVariance");
    instr.reads(call.counts, call.length, "counts");
    instr.writes(call.out_mean, 1, "outputMean");
    instr.writes(call.out_variance, 1, "outputVariance");
    if (!instr.commit(4, call.length)) return;

    // How many samples each lane's mean stands for; without a tail all lanes stand for the same.
    const bool weighted = present(call.counts) || call.tail_count != 0;
    const auto weight = [&](uint32_t i) {
        if (present(call.counts)) return load_one(call.counts, i);
        if (call.tail_count == 0) return static_cast<float>(call.rounds);
        return static_cast<float>(i < call.head_length ? call.head_count : call.tail_count);
    };
    double mean = 0, variance = 0;
    for (uint32_t i = 0; i < call.length; ++i)
        mean += double(load_one(call.mean, i)) * (weighted ? weight(i) * call.reciprocal : call.lanes_reciprocal);
    for (uint32_t i = 0; i < call.length; ++i) {
        const double delta = load_one(call.mean, i) - mean;
        variance += (load_one(call.variance, i) + weight(i) * delta * delta) * call.reciprocal;
    }
    store_one(call.out_mean, 0, static_cast<float>(mean));
    store_one(call.out_variance, 0, static_cast<float>(variance));
}

}  // namespace npuforge
