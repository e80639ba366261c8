// SPDX-License-Identifier: Apache-2.0
// Tiling of the matrix multiplication library.
//
// Rules of the computation:
//   CORES  the output is cut into rectangles, one per core; the cut with the least work per core
//          wins, ties go to the one that moves the fewest bytes; K is never cut, nor a fixed base
//   BASE   one multiply step is baseM x baseN x baseK, 128 x 256 at most, K as deep as L0A and L0B
//          hold it twice, and the result once in L0C
//   L1     as many steps along K as fit into L1 for both operands, kept twice unless one covers all
#pragma once

#include <algorithm>

#include "npuforge_host/library_structs.h"
#include "npuforge_host/platform.h"

namespace matmul_tiling {

#define NPUFORGE_MATMUL_TYPE(name, number, size) DT_##name = number,
enum class DataType : int32_t { NPUFORGE_DATA_TYPES(NPUFORGE_MATMUL_TYPE) DT_BFLOAT16 = 27 };
#undef NPUFORGE_MATMUL_TYPE
enum class TPosition : int32_t {
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM, TSCM, MAX
};
enum class CubeFormat : int32_t {
    ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8
};
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };

struct PlatformInfo {
    platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::ASCEND910B;
    uint64_t l1Size = 0;
    uint64_t l0CSize = 0;
    uint64_t ubSize = 0;
    uint64_t l0ASize = 0;
    uint64_t l0BSize = 0;
};

class MatmulApiTilingBase {
public:
    MatmulApiTilingBase() : MatmulApiTilingBase(*platform_ascendc::PlatformAscendCManager::GetInstance()) {}
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform) {
        using platform_ascendc::CoreMemType;
        platform.GetCoreMemSize(CoreMemType::L1, room_.l1Size);
        platform.GetCoreMemSize(CoreMemType::L0_A, room_.l0ASize);
        platform.GetCoreMemSize(CoreMemType::L0_B, room_.l0BSize);
        platform.GetCoreMemSize(CoreMemType::L0_C, room_.l0CSize);
    }
    explicit MatmulApiTilingBase(const PlatformInfo& room) : room_(room) {}
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition, CubeFormat, DataType type, bool trans = false) {
        a_trans_ = trans;
        return SetType(a_, type);
    }
    int32_t SetBType(TPosition, CubeFormat, DataType type, bool trans = false) {
        b_trans_ = trans;
        return SetType(b_, type);
    }
    int32_t SetCType(TPosition, CubeFormat, DataType type) { return SetType(c_, type); }
    int32_t SetBiasType(TPosition, CubeFormat, DataType type) { return SetType(bias_type_, type); }
    int32_t SetDequantType(DequantType) { return 0; }
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k) {
        m_ = m;
        n_ = n;
        k_ = k;
        return 0;
    }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb) {
        org_m_ = m;
        org_n_ = n;
        org_ka_ = ka;
        org_kb_ = kb;
        return 0;
    }
    int32_t SetBatchInfoForNormal(int32_t a_batch, int32_t b_batch, int32_t m, int32_t n, int32_t k) {
        batch_ = std::max(a_batch, b_batch);
        SetOrgShape(m, n, k);
        return SetShape(m, n, k);
    }
    int32_t SetBatchNum(int32_t batch) {
        batch_ = batch;
        return 0;
    }
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
        return SetLayout(a_layout_, {b, s, n, g, d});
    }
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
        return SetLayout(b_layout_, {b, s, n, g, d});
    }
    int32_t SetCLayout(int32_t b, int32_t s1, int32_t n, int32_t g, int32_t s2) {
        return SetLayout(c_layout_, {b, s1, n, g, s2});
    }
    int32_t EnableBias(bool bias = false) { return SetBias(bias); }
    int32_t SetBias(bool bias = false) {
        bias_ = bias;
        return 0;
    }
    int32_t SetFixSplit(int32_t base_m = -1, int32_t base_n = -1, int32_t base_k = -1) {
        fixed_m_ = base_m;
        fixed_n_ = base_n;
        fixed_k_ = base_k;
        return 0;
    }
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t = -1, int32_t = -1) {
        if (l1 > 0) room_.l1Size = std::min<uint64_t>(room_.l1Size, l1);
        if (l0c > 0) room_.l0CSize = std::min<uint64_t>(room_.l0CSize, l0c);
        return 0;
    }
    int32_t SetTraverse(MatrixTraverse traverse) {
        traverse_ = traverse;
        return 0;
    }
    int32_t SetMadType(MatrixMadType) { return 0; }
    int32_t SetSplitRange(int32_t max_m = -1, int32_t max_n = -1, int32_t max_k = -1, int32_t = -1,
                          int32_t = -1, int32_t = -1) {
        if (max_m > 0) max_base_m_ = max_m;
        if (max_n > 0) max_base_n_ = max_n;
        if (max_k > 0) max_base_k_ = max_k;
        return 0;
    }
    int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
    void SetMatmulConfigParams(int32_t = 1, bool = false, ScheduleType = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse = MatrixTraverse::NOSET, bool = false) {}
    int32_t GetBaseM() const { return base_m_; }
    int32_t GetBaseN() const { return base_n_; }
    int32_t GetBaseK() const { return base_k_; }

    // 0 when the tiling was written, -1 when the problem or a fixed split does not fit.
    virtual int64_t GetTiling(optiling::TCubeTiling& tiling) { return Compute(tiling) ? 0 : -1; }
    virtual int64_t GetTiling(AscendC::tiling::TCubeTiling& plain) {
        optiling::TCubeTiling tiling;
        const int64_t answer = GetTiling(tiling);
        tiling.SaveToBuffer(&plain, sizeof(plain));
        return answer;
    }

protected:
    using Layout = std::vector<int32_t>;

    virtual void SplitOverCores() {
        single_m_ = m_;
        single_n_ = n_;
        single_k_ = k_;
    }

    static int32_t CeilDiv(int32_t value, int32_t unit) { return (value + unit - 1) / unit; }
    static int32_t RoundUp(int32_t value, int32_t unit) { return CeilDiv(value, unit) * unit; }

    int32_t m_ = 0, n_ = 0, k_ = 0;
    int32_t org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0;
    int32_t single_m_ = 0, single_n_ = 0, single_k_ = 0;
    int32_t cores_ = 1, used_cores_ = 1, m_dim_ = 1, n_dim_ = 1;
    int32_t batch_ = 0;
    int32_t fixed_m_ = -1, fixed_n_ = -1, fixed_k_ = -1;

private:
    static int32_t SetType(DataType& field, DataType type) {
        field = type;
        return 0;
    }
    static int32_t SetLayout(Layout& field, Layout layout) {
        field = std::move(layout);
        return 0;
    }
    static int32_t Bits(DataType type) {
        const int size = ge::GetSizeByDataType(static_cast<ge::DataType>(type));
        return size >= ge::kDataTypeSizeBitOffset ? size - ge::kDataTypeSizeBitOffset : size * 8;
    }
    static int64_t Bytes(int64_t elements, DataType type) { return elements * Bits(type) / 8; }

    bool Compute(optiling::TCubeTiling& tiling) {
        if (m_ <= 0 || n_ <= 0 || k_ <= 0) return false;
        if (org_m_ == 0) SetOrgShape(m_, n_, k_);
        SplitOverCores();
        if (single_m_ <= 0 || single_n_ <= 0 || single_k_ <= 0) return false;
        if (!ChooseBase()) return false;
        const int32_t k_steps = CeilDiv(single_k_, base_k_);
        const int64_t step_a = Bytes(int64_t{base_m_} * base_k_, a_);
        const int64_t step_b = Bytes(int64_t{base_n_} * base_k_, b_);
        const int64_t bias_bytes = bias_ ? Bytes(base_n_, bias_type_) : 0;
        const int64_t room = static_cast<int64_t>(room_.l1Size) - bias_bytes;
        int32_t copies = k_steps == 1 && single_m_ <= base_m_ && single_n_ <= base_n_ ? 1 : 2;
        int32_t steps = static_cast<int32_t>(std::min<int64_t>(k_steps, room / copies / (step_a + step_b)));
        if (steps == 0) {
            copies = 1;
            steps = room >= step_a + step_b ? 1 : 0;
        }
        if (steps == 0) return false;
        Write(tiling, steps, copies, bias_bytes + copies * steps * (step_a + step_b));
        return true;
    }

    bool ChooseBase() {
        const int32_t c0 = 256 / Bits(a_);  // elements of a 32-byte block
        const int32_t k_unit = !a_trans_ && b_trans_ ? c0 : std::max(c0, 16);
        const int32_t n_unit = std::max(16, b_trans_ ? 16 : 256 / Bits(b_));
        base_m_ = fixed_m_ > 0 ? fixed_m_ : std::min({128, max_base_m_, RoundUp(single_m_, 16)});
        base_n_ = fixed_n_ > 0 ? fixed_n_ : std::min({256, max_base_n_, RoundUp(single_n_, n_unit)});
        const auto deepest = [&](uint64_t bytes, int32_t rows, DataType type) {
            return static_cast<int32_t>(bytes / 2 * 8 / (int64_t{rows} * Bits(type)));
        };
        const int32_t fits = std::min(deepest(room_.l0ASize, base_m_, a_), deepest(room_.l0BSize, base_n_, b_));
        const int32_t wanted = std::min({fits / k_unit * k_unit, max_base_k_, RoundUp(single_k_, k_unit)});
        base_k_ = fixed_k_ > 0 ? fixed_k_ : wanted;
        // A fixed block may not reach beyond what the core has to do, padded to whole fractals.
        return base_m_ % 16 == 0 && base_n_ % 16 == 0 && base_k_ > 0 && base_k_ <= fits &&
               base_m_ <= RoundUp(single_m_, 16) && base_n_ <= RoundUp(single_n_, n_unit) &&
               uint64_t{4} * base_m_ * base_n_ <= room_.l0CSize;
    }

    void Write(optiling::TCubeTiling& tiling, int32_t steps, int32_t copies, int64_t l1_bytes) const {
        tiling.set_usedCoreNum(used_cores_);
        tiling.set_M(org_m_);
        tiling.set_N(org_n_);
        tiling.set_Ka(org_ka_);
        tiling.set_Kb(org_kb_);
        tiling.set_singleCoreM(single_m_);
        tiling.set_singleCoreN(single_n_);
        tiling.set_singleCoreK(single_k_);
        tiling.set_baseM(base_m_);
        tiling.set_baseN(base_n_);
        tiling.set_baseK(base_k_);
        tiling.set_depthA1(steps * copies);
        tiling.set_depthB1(steps * copies);
        tiling.set_stepM(1);
        tiling.set_stepN(1);
        tiling.set_stepKa(steps);
        tiling.set_stepKb(steps);
        tiling.set_isBias(bias_ ? 1 : 0);
        tiling.set_iterateOrder(traverse_ == MatrixTraverse::FIRSTN ? 1 : 0);
        tiling.set_dbL0A(2);
        tiling.set_dbL0B(2);
        tiling.set_dbL0C(1);
        tiling.set_shareL1Size(static_cast<int32_t>(l1_bytes));
        tiling.set_shareL0CSize(base_m_ * base_n_ * 4);
        tiling.set_batchM(1);
        tiling.set_batchN(1);
        tiling.set_singleBatchM(1);
        tiling.set_singleBatchN(1);
        tiling.set_BatchNum(batch_);
        tiling.set_ALayoutInfoB(a_layout_[0]);
        tiling.set_ALayoutInfoS(a_layout_[1]);
        tiling.set_ALayoutInfoN(a_layout_[2]);
        tiling.set_ALayoutInfoG(a_layout_[3]);
        tiling.set_ALayoutInfoD(a_layout_[4]);
        tiling.set_BLayoutInfoB(b_layout_[0]);
        tiling.set_BLayoutInfoS(b_layout_[1]);
        tiling.set_BLayoutInfoN(b_layout_[2]);
        tiling.set_BLayoutInfoG(b_layout_[3]);
        tiling.set_BLayoutInfoD(b_layout_[4]);
        tiling.set_CLayoutInfoB(c_layout_[0]);
        tiling.set_CLayoutInfoS1(c_layout_[1]);
        tiling.set_CLayoutInfoN(c_layout_[2]);
        tiling.set_CLayoutInfoG(c_layout_[3]);
        tiling.set_CLayoutInfoS2(c_layout_[4]);
    }

    PlatformInfo room_;
    DataType a_ = DataType::DT_FLOAT16, b_ = DataType::DT_FLOAT16, c_ = DataType::DT_FLOAT;
    DataType bias_type_ = DataType::DT_FLOAT;
    bool a_trans_ = false, b_trans_ = false, bias_ = false;
    MatrixTraverse traverse_ = MatrixTraverse::FIRSTM;
    int32_t max_base_m_ = 128, max_base_n_ = 256, max_base_k_ = 1 << 20;
    int32_t base_m_ = 0, base_n_ = 0, base_k_ = 0;
    Layout a_layout_ = Layout(5), b_layout_ = Layout(5), c_layout_ = Layout(5);
};

class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;

    int32_t SetDim(int32_t cores) {
        cores_ = cores;
        return 0;
    }
    int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1) {
        wanted_m_ = m;
        wanted_n_ = n;
        wanted_k_ = k;
        return 0;
    }
    int32_t SetSingleRange(int32_t max_m = -1, int32_t max_n = -1, int32_t = -1, int32_t = -1,
                           int32_t = -1, int32_t = -1) {
        max_m_ = max_m;
        max_n_ = max_n;
        return 0;
    }
    int32_t SetAlignSplit(int32_t m, int32_t n, int32_t) {
        align_m_ = std::max(m, 16);
        align_n_ = std::max(n, 16);
        return 0;
    }
    void EnableMultiCoreSplitK(bool) {}
    void SetSplitK(bool) {}
    int32_t GetSingleShape(int32_t& m, int32_t& n, int32_t& k) const {
        m = single_m_;
        n = single_n_;
        k = single_k_;
        return 0;
    }
    int32_t GetCoreNum(int32_t& dim, int32_t& m_dim, int32_t& n_dim) const {
        dim = used_cores_;
        m_dim = m_dim_;
        n_dim = n_dim_;
        return 0;
    }

protected:
    void SplitOverCores() override {
        single_k_ = wanted_k_ > 0 ? wanted_k_ : k_;
        int64_t least_work = 0;
        int64_t least_bytes = 0;
        for (int32_t m_parts = 1; m_parts <= std::max(cores_, 1); ++m_parts) {
            const int32_t n_parts = std::max(cores_, 1) / m_parts;
            const int32_t m = Part(m_, m_parts, wanted_m_, max_m_, std::max(align_m_, fixed_m_));
            const int32_t n = Part(n_, n_parts, wanted_n_, max_n_, std::max(align_n_, fixed_n_));
            const int64_t work = int64_t{RoundUp(m, 16)} * RoundUp(n, 16);
            const int64_t bytes = int64_t{m} + n;
            const bool fits = CeilDiv(m_, m) * CeilDiv(n_, n) <= cores_ || (wanted_m_ > 0 && wanted_n_ > 0);
            if (!fits) continue;
            if (least_work != 0 && (work > least_work || (work == least_work && bytes >= least_bytes))) {
                continue;
            }
            least_work = work;
            least_bytes = bytes;
            single_m_ = m;
            single_n_ = n;
        }
        if (single_m_ <= 0 || single_n_ <= 0) return;
        m_dim_ = CeilDiv(m_, single_m_);
        n_dim_ = CeilDiv(n_, single_n_);
        used_cores_ = std::min(m_dim_ * n_dim_, std::max(cores_, 1));
    }

private:
    int32_t Part(int32_t size, int32_t parts, int32_t wanted, int32_t limit, int32_t unit) const {
        if (wanted > 0) return wanted;
        const int32_t part = parts == 1 ? size : std::min(size, RoundUp(CeilDiv(size, parts), unit));
        return limit > 0 ? std::min(part, limit) : part;
    }

    int32_t wanted_m_ = -1, wanted_n_ = -1, wanted_k_ = -1;
    int32_t max_m_ = -1, max_n_ = -1;
    int32_t align_m_ = 16, align_n_ = 16;
};

class BatchMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

}  // namespace matmul_tiling
