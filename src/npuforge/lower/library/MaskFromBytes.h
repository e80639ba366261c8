// SPDX-License-Identifier: Apache-2.0
// Bit i of mask = bytes[i] != 0. Bytes become half, which CompareScalar takes; mask needs capacity for
// align(n, 128) / 8 bytes, bits from n on are arbitrary.
__aicore__ inline void MaskFromBytes(const LocalTensor<uint8_t>& mask, const LocalTensor<uint8_t>& bytes, int32_t n,
                                     const LocalTensor<uint8_t>& work)
{
    const LocalTensor<half> wide = work.ReinterpretCast<half>();
    const int32_t whole = (n + 127) / 128 * 128;
    if (whole != n) {
        Duplicate(wide[whole - 128], static_cast<half>(0), 128);  // lanes the last chunk compares in vain
    }
    Cast(wide, bytes, RoundMode::CAST_NONE, static_cast<uint32_t>(n));
    CompareScalar(mask, wide, static_cast<half>(0), CMPMODE::NE, static_cast<uint32_t>(whole));
}
