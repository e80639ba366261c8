// SPDX-License-Identifier: Apache-2.0
// dst = src converted through the type Mid, where no single instruction converts; casts.toml lists which
// types and rounding modes make the result the rounded one.
template <typename Mid, typename To, typename From>
__aicore__ inline void CastVia(const LocalTensor<To>& dst, const LocalTensor<From>& src, RoundMode first,
                               RoundMode second, int32_t n, const LocalTensor<uint8_t>& work)
{
    const LocalTensor<Mid> mid = work.template ReinterpretCast<Mid>();
    Cast(mid, src, first, static_cast<uint32_t>(n));
    Cast(dst, mid, second, static_cast<uint32_t>(n));
}
