// SPDX-License-Identifier: Apache-2.0
// dst = src converted through the types Near (to src) and Far, see CastVia.
template <typename Near, typename Far, typename To, typename From>
__aicore__ inline void CastVia2(const LocalTensor<To>& dst, const LocalTensor<From>& src, RoundMode first,
                                RoundMode second, RoundMode third, int32_t n, const LocalTensor<uint8_t>& work)
{
    const LocalTensor<Near> near = work.template ReinterpretCast<Near>();
    const LocalTensor<uint8_t> rest = work[(n * static_cast<int32_t>(sizeof(Near)) + 31) / 32 * 32];
    Cast(near, src, first, static_cast<uint32_t>(n));
    CastVia<Far>(dst, near, second, third, n, rest);
}
