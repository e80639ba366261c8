// SPDX-License-Identifier: Apache-2.0
// dst = a @Op@ b, bit by bit, for the masks of n elements, in 16 bit words. dst may be a or b.
__aicore__ inline void Mask@Op@(const LocalTensor<uint8_t>& dst, const LocalTensor<uint8_t>& a,
                              const LocalTensor<uint8_t>& b, int32_t n)
{
    @Op@(dst.ReinterpretCast<uint16_t>(), a.ReinterpretCast<uint16_t>(), b.ReinterpretCast<uint16_t>(), (n + 15) / 16);
}
