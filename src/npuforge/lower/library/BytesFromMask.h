// SPDX-License-Identifier: Apache-2.0
// bytes[i] = bit i of mask ? 1 : 0. Select gives halves, Cast makes bytes of them. The kernel leaves the
// last 8 KB of UB to Select.
__aicore__ inline void BytesFromMask(const LocalTensor<uint8_t>& bytes, const LocalTensor<uint8_t>& mask, int32_t n,
                                     const LocalTensor<uint8_t>& work)
{
    const LocalTensor<half> wide = work.ReinterpretCast<half>();
    SelectScalars(wide, mask, static_cast<half>(1), static_cast<half>(0), n);
    Cast(bytes, wide, RoundMode::CAST_RINT, static_cast<uint32_t>(n));
}
