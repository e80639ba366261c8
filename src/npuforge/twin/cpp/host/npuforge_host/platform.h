// SPDX-License-Identifier: Apache-2.0
// Platform facts. They come from the text file named by NPUFORGE_SOC, one `key value` per line.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "npuforge_host/node.h"

namespace npuforge::host {

class SocFacts {
public:
    static const SocFacts& Load() {
        static const SocFacts facts;
        return facts;
    }
    const std::string& Text(const std::string& key) const {
        const auto found = values_.find(key);
        if (found == values_.end()) {
            throw std::runtime_error("the SoC description lacks the key '" + key + "'");
        }
        return found->second;
    }
    uint64_t Number(const std::string& key) const { return std::stoull(Text(key)); }

private:
    SocFacts() {
        const char* path = std::getenv("NPUFORGE_SOC");
        if (path == nullptr) throw std::runtime_error("NPUFORGE_SOC names no SoC description");
        std::ifstream file(path);
        if (!file) throw std::runtime_error("cannot read the SoC description " + std::string(path));
        std::string line;
        while (std::getline(file, line)) {
            const size_t split = line.find(' ');
            if (split == std::string::npos || line[0] == '#') continue;
            values_[line.substr(0, split)] = line.substr(line.find_first_not_of(' ', split));
        }
    }
    std::map<std::string, std::string> values_;
};

}  // namespace npuforge::host

namespace fe {

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class OptionalInfos {};

// Physical sizes; the reserve that operators never see is taken off in PlatformAscendC.
class PlatFormInfos {
public:
    bool Init() { return true; }
    uint32_t GetCoreNum() const {
        return static_cast<uint32_t>(Facts().Number(cube_cores_ ? "cores.aic" : "cores.aiv"));
    }
    uint32_t GetCoreNumByType(const std::string& core_type) const {
        return static_cast<uint32_t>(
            Facts().Number(core_type == "VectorCore" ? "cores.aiv" : "cores.aic"));
    }
    void SetCoreNumByCoreType(const std::string& core_type) { cube_cores_ = core_type != "VectorCore"; }
    void GetLocalMemSize(LocalMemType type, uint64_t& size) const {
        static constexpr const char* kKeys[] = {"l0a.bytes", "l0b.bytes", "l0c.bytes", "l1.bytes",
                                                "l2.bytes",  "ub.bytes",  "hbm.bytes"};
        size = type < LocalMemType::RESERVED ? Facts().Number(kKeys[static_cast<int>(type)]) : 0;
    }
    void GetLocalMemBw(LocalMemType type, uint64_t& rate) const {
        if (type == LocalMemType::L2) rate = Facts().Number("l2.rate");
        if (type == LocalMemType::HBM) rate = Facts().Number("hbm.rate");
    }
    bool GetPlatformRes(const std::string& label, const std::string& key, std::string& value) {
        return GetPlatformResWithLock(label, key, value);
    }
    bool GetPlatformResWithLock(const std::string&, const std::string& key, std::string& value) {
        static const std::map<std::string, std::string> kFromFile = {
            {"ai_core_cnt", "cores.aic"},     {"cube_core_cnt", "cores.aic"},
            {"vector_core_cnt", "cores.aiv"}, {"l2_size", "l2.bytes"},
            {"ub_size", "ub.bytes"},          {"l1_size", "l1.bytes"},
            {"l0_a_size", "l0a.bytes"},       {"l0_b_size", "l0b.bytes"},
            {"l0_c_size", "l0c.bytes"},       {"bt_size", "bt.bytes"},
            {"fb0_size", "fb.bytes"},         {"SoC_version", "name"}};
        // True of every SoC of this architecture.
        static const std::map<std::string, std::string> kArchitecture = {
            {"Short_SoC_version", "Ascend910B"},
            {"NpuArch", "2201"},
            {"core_type_list", "CubeCore,VectorCore"},
            {"cube_vector_combine", "split"}};
        if (const auto fact = kFromFile.find(key); fact != kFromFile.end()) {
            value = Facts().Text(fact->second);
            return true;
        }
        if (const auto fact = kArchitecture.find(key); fact != kArchitecture.end()) {
            value = fact->second;
            return true;
        }
        return false;
    }

private:
    static const npuforge::host::SocFacts& Facts() { return npuforge::host::SocFacts::Load(); }
    bool cube_cores_ = false;
};

class PlatformInfoManager {
public:
    static PlatformInfoManager& Instance() {
        static PlatformInfoManager manager;
        return manager;
    }
    static PlatformInfoManager& GeInstance() { return Instance(); }
    uint32_t InitializePlatformInfo() { return 0; }
    uint32_t GetPlatformInfoWithOutSocVersion(PlatFormInfos& infos, OptionalInfos&) {
        infos = PlatFormInfos();
        return 0;
    }
};

}  // namespace fe

enum class NpuArch : uint32_t {
    DAV_1001 = 1001,
    DAV_2002 = 2002,
    DAV_2201 = 2201,
    DAV_3002 = 3002,
    DAV_3510 = 3510,
    DAV_RESV = 0xFFFF
};

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };
enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND950,
    ASCEND910_55,
    ASCEND910_95 = ASCEND950,
    AS31XM1,
    ASCEND031,
    ASCEND035,
    ASCEND310,
    ASCEND610,
    ASCEND610Lite,
    ASCEND910_93,
    RESERVED_VERSION = 99999
};
enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
public:
    PlatformAscendC() = delete;
    explicit PlatformAscendC(fe::PlatFormInfos* infos) : infos_(infos) {
        if (infos == nullptr) throw std::runtime_error("PlatformAscendC was given no platform info");
    }
    uint32_t GetCoreNum() const { return infos_->GetCoreNum(); }
    uint32_t GetCoreNumAic() const { return infos_->GetCoreNumByType("AiCore"); }
    uint32_t GetCoreNumAiv() const { return infos_->GetCoreNumByType("VectorCore"); }
    uint32_t GetCoreNumVector() const { return 0; }
    // In a mixed launch one block stands for one cube core and its vector cores.
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const {
        if (aic == 0 || aiv == 0 || aic > aiv) return slices;
        const uint32_t ratio = aiv / aic;
        const uint32_t blocks = (slices + ratio - 1) / ratio;
        return ratio == 2 && blocks > aic ? 0 : blocks;
    }
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t aic, uint32_t aiv) const {
        return CalcTschBlockDim(slices, aic, aiv);
    }
    uint32_t GetLibApiWorkSpaceSize() const { return Number("libapi.workspace"); }
    uint32_t GetResCubeGroupWorkSpaceSize() const { return 1024 * 1024; }
    uint32_t GetResGroupBarrierWorkSpaceSize() const { return 1024 * 1024; }
    void GetCoreMemSize(const CoreMemType& type, uint64_t& size) const {
        // The matrix library keeps 256 bytes of UB and of L1 for its messages.
        constexpr uint64_t kLibraryReserve = 256;
        if (type == CoreMemType::FB || type == CoreMemType::BT) {
            size = Number(type == CoreMemType::FB ? "fb.bytes" : "bt.bytes");
            return;
        }
        infos_->GetLocalMemSize(static_cast<fe::LocalMemType>(type), size);
        if (type == CoreMemType::UB || type == CoreMemType::L1) size -= kLibraryReserve;
        if (type == CoreMemType::UB) size -= reserved_;
    }
    void GetCoreMemBw(const CoreMemType& type, uint64_t& rate) const {
        infos_->GetLocalMemBw(static_cast<fe::LocalMemType>(type), rate);
    }
    void ReserveLocalMemory(ReservedSize size) { reserved_ = 8192u << static_cast<int>(size); }
    SocVersion GetSocVersion() const { return SocVersion::ASCEND910B; }
    NpuArch GetCurNpuArch() const { return NpuArch::DAV_2201; }

private:
    static uint32_t Number(const char* key) {
        return static_cast<uint32_t>(npuforge::host::SocFacts::Load().Number(key));
    }
    fe::PlatFormInfos* infos_;
    uint32_t reserved_ = 0;
};

class PlatformAscendCManager {
public:
    static PlatformAscendC* GetInstance(const char* = nullptr) {
        static fe::PlatFormInfos infos;
        static PlatformAscendC platform(&infos);
        return &platform;
    }
};

}  // namespace platform_ascendc
