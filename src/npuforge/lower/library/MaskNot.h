// SPDX-License-Identifier: Apache-2.0
// dst = ~src for the masks of n elements, in 16 bit words; bits from n on change too. dst may be src.
__aicore__ inline void MaskNot(const LocalTensor<uint8_t>& dst, const LocalTensor<uint8_t>& src, int32_t n)
{
    Not(dst.ReinterpretCast<uint16_t>(), src.ReinterpretCast<uint16_t>(), (n + 15) / 16);
}
