// SPDX-License-Identifier: Apache-2.0
// dst = cosh(src). dst may be src. From exp(|x| / 2), whose square is taken after halving: no overflow before the
// result's.
__aicore__ inline void Fp32Cosh(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                const LocalTensor<uint8_t>& work)
{
    const LocalTensor<float> root = work.ReinterpretCast<float>();
    const LocalTensor<float> inverse = root[(n + 7) / 8 * 8];
    Abs(root, src, n);
    Duplicate(inverse, 0.25f, n);
    Muls(root, root, 0.5f, n);
    Exp(root, root, n);
    Muls(dst, root, 0.5f, n);
    Mul(dst, dst, root, n);
    Div(inverse, inverse, dst, n);
    Add(dst, dst, inverse, n);
}
