// SPDX-License-Identifier: Apache-2.0
// Definitions of the platform classes, for one source of every program that has them.
#pragma once

#include <map>
#include <stdexcept>

#include "platform_classes.h"

namespace fe {

uint32_t PlatFormInfos::GetCoreNum() const {
    return GetCoreNumByType(cube_cores_ ? "AiCore" : "VectorCore");
}
uint32_t PlatFormInfos::GetCoreNumByType(const std::string& core_type) const {
    const char* key = core_type == "VectorCore" ? "cores.aiv" : "cores.aic";
    return static_cast<uint32_t>(npuforge::host::SocNumber(key));
}
void PlatFormInfos::SetCoreNumByCoreType(const std::string& core_type) {
    cube_cores_ = core_type != "VectorCore";
}
void PlatFormInfos::GetLocalMemSize(LocalMemType type, uint64_t& size) const {
    static constexpr const char* kKeys[] = {"l0a.bytes", "l0b.bytes", "l0c.bytes", "l1.bytes",
                                            "l2.bytes",  "ub.bytes",  "hbm.bytes"};
    const bool known = type < LocalMemType::RESERVED;
    size = known ? npuforge::host::SocNumber(kKeys[static_cast<int>(type)]) : 0;
}
void PlatFormInfos::GetLocalMemBw(LocalMemType type, uint64_t& rate) const {
    if (type == LocalMemType::L2) rate = npuforge::host::SocNumber("l2.rate");
    if (type == LocalMemType::HBM) rate = npuforge::host::SocNumber("hbm.rate");
}
bool PlatFormInfos::GetPlatformResWithLock(const std::string&, const std::string& key,
                                           std::string& value) {
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
        value = npuforge::host::SocText(fact->second);
        return true;
    }
    if (const auto fact = kArchitecture.find(key); fact != kArchitecture.end()) {
        value = fact->second;
        return true;
    }
    return false;
}

}  // namespace fe

namespace platform_ascendc {

PlatformAscendC::PlatformAscendC(fe::PlatFormInfos* infos) : infos_(infos) {
    if (infos == nullptr) throw std::runtime_error("PlatformAscendC was given no platform info");
}
uint32_t PlatformAscendC::GetCoreNum() const { return infos_->GetCoreNum(); }
uint32_t PlatformAscendC::GetCoreNumAic() const { return infos_->GetCoreNumByType("AiCore"); }
uint32_t PlatformAscendC::GetCoreNumAiv() const { return infos_->GetCoreNumByType("VectorCore"); }
uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const {
    return static_cast<uint32_t>(npuforge::host::SocNumber("libapi.workspace"));
}
void PlatformAscendC::GetCoreMemSize(const CoreMemType& type, uint64_t& size) const {
    // The matrix library keeps 256 bytes of UB and of L1 for its messages.
    constexpr uint64_t kLibraryReserve = 256;
    if (type == CoreMemType::FB || type == CoreMemType::BT) {
        size = npuforge::host::SocNumber(type == CoreMemType::FB ? "fb.bytes" : "bt.bytes");
        return;
    }
    infos_->GetLocalMemSize(static_cast<fe::LocalMemType>(type), size);
    if (type == CoreMemType::UB || type == CoreMemType::L1) size -= kLibraryReserve;
    if (type == CoreMemType::UB) size -= reserved_;
}
void PlatformAscendC::GetCoreMemBw(const CoreMemType& type, uint64_t& rate) const {
    infos_->GetLocalMemBw(static_cast<fe::LocalMemType>(type), rate);
}
PlatformAscendC* PlatformAscendCManager::GetInstance(const char*) {
    static fe::PlatFormInfos infos;
    static PlatformAscendC platform(&infos);
    return &platform;
}

}  // namespace platform_ascendc
