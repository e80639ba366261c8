// SPDX-License-Identifier: Apache-2.0
// dst[i] = src[index[i]]. Gather wants byte offsets; index is kept. About 5 elements a cycle: use it only
// for data-dependent access. dst is not src.
template <typename T>
__aicore__ inline void GatherElements(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                      const LocalTensor<int32_t>& index, int32_t n, const LocalTensor<uint8_t>& work)
{
    const LocalTensor<int32_t> offsets = work.template ReinterpretCast<int32_t>();
    Muls(offsets, index, static_cast<int32_t>(sizeof(T)), n);
    Gather(dst, src, offsets.template ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
}
