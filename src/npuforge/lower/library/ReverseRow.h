// SPDX-License-Identifier: Apache-2.0
// dst[i] = src[n - 1 - i]. dst is not src. Lanes cannot be reversed by any instruction but Gather.
template <typename T>
__aicore__ inline void ReverseRow(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t n,
                                  const LocalTensor<uint8_t>& work)
{
    constexpr int32_t size = sizeof(T);
    const LocalTensor<int32_t> offsets = work.template ReinterpretCast<int32_t>();
    Iota(offsets, (n - 1) * size, -size, n);
    Gather(dst, src, offsets.template ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
}
