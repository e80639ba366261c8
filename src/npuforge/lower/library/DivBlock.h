// SPDX-License-Identifier: Apache-2.0
// dst[i] = a[i] / v, for a 32 B block full of v. dst may be a. Block stride 0 repeats the block.
template <typename T>
__aicore__ inline void DivBlock(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& v, int32_t n)
{
    if (n > 0) {
        SetMaskCount();
        SetVectorMask<T, MaskMode::COUNTER>(0, n);
        Div<T, false>(dst, a, v, MASK_PLACEHOLDER, 1, BinaryRepeatParams(1, 1, 0, 8, 8, 0));
        SetMaskNorm();
        ResetMask();
    }
}
