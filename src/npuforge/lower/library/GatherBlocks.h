// SPDX-License-Identifier: Apache-2.0
// 32 B block i of dst = block index[i] of src, for n blocks, a multiple of 8. Gatherb wants byte offsets; index is
// kept. A repeat of 8 blocks takes 3 cycles, where Gather takes 12. dst is not src.
template <typename T>
__aicore__ inline void GatherBlocks(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                    const LocalTensor<int32_t>& index, int32_t n, const LocalTensor<uint8_t>& work)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t most = 255 * 8;  // blocks of one instruction
    const LocalTensor<int32_t> offsets = work.template ReinterpretCast<int32_t>();
    Muls(offsets, index, 32, n);
    const LocalTensor<uint32_t> bytes = offsets.template ReinterpretCast<uint32_t>();
    for (int32_t done = 0; done < n; done += most) {
        const int32_t count = n - done < most ? n - done : most;
        Gatherb(dst[done * block], src, bytes[done], static_cast<uint8_t>(count / 8), GatherRepeatParams(1, 8));
    }
}
