// SPDX-License-Identifier: Apache-2.0
// Platform facts. They come from a text file, one `key value` per line. Needs no other header of
// ours: the device runtime defines the same classes for programs that launch their own kernels.
#pragma once

#include <cstdint>
#include <string>

namespace npuforge::host {

// The value of `key` in the SoC description; a missing key or file throws std::runtime_error.
const std::string& SocText(const std::string& key);
uint64_t SocNumber(const std::string& key);

}  // namespace npuforge::host

namespace fe {

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class OptionalInfos {};

// Physical sizes; the reserve that operators never see is taken off in PlatformAscendC.
class PlatFormInfos {
public:
    bool Init() { return true; }
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumByType(const std::string& core_type) const;
    void SetCoreNumByCoreType(const std::string& core_type);
    void GetLocalMemSize(LocalMemType type, uint64_t& size) const;
    void GetLocalMemBw(LocalMemType type, uint64_t& rate) const;
    bool GetPlatformRes(const std::string& label, const std::string& key, std::string& value) {
        return GetPlatformResWithLock(label, key, value);
    }
    bool GetPlatformResWithLock(const std::string& label, const std::string& key,
                                std::string& value);

private:
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
    explicit PlatformAscendC(fe::PlatFormInfos* infos);
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
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
    uint32_t GetLibApiWorkSpaceSize() const;
    uint32_t GetResCubeGroupWorkSpaceSize() const { return 1024 * 1024; }
    uint32_t GetResGroupBarrierWorkSpaceSize() const { return 1024 * 1024; }
    void GetCoreMemSize(const CoreMemType& type, uint64_t& size) const;
    void GetCoreMemBw(const CoreMemType& type, uint64_t& rate) const;
    void ReserveLocalMemory(ReservedSize size) { reserved_ = 8192u << static_cast<int>(size); }
    SocVersion GetSocVersion() const { return SocVersion::ASCEND910B; }
    NpuArch GetCurNpuArch() const { return NpuArch::DAV_2201; }

private:
    fe::PlatFormInfos* infos_;
    uint32_t reserved_ = 0;
};

class PlatformAscendCManager {
public:
    static PlatformAscendC* GetInstance(const char* soc = nullptr);
};

}  // namespace platform_ascendc
