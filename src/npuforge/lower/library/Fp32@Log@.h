// SPDX-License-Identifier: Apache-2.0
// dst = logarithm of src to base @Base@: the natural one times a constant. dst may be src.
__aicore__ inline void Fp32@Log@(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n)
{
    Ln(dst, src, n);
    Muls(dst, dst, @Factor@, n);
}
