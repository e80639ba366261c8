// SPDX-License-Identifier: Apache-2.0
// Elements of src whose bit is set, moved together in dst; returns how many there are.
template <typename T>
__aicore__ inline int32_t CompactElements(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                          const LocalTensor<uint8_t>& mask, int64_t n)
{
    uint64_t kept = 0;
    if (n <= 0) {
        return 0;
    }
    const uint32_t count = static_cast<uint32_t>(n);
    if constexpr (sizeof(T) == 2) {
        GatherMask(dst, src, mask.template ReinterpretCast<uint16_t>(), true, count, {1, 1, 8, 1}, kept);
    } else {
        GatherMask(dst, src, mask.template ReinterpretCast<uint32_t>(), true, count, {1, 1, 8, 1}, kept);
    }
    return static_cast<int32_t>(kept);
}
