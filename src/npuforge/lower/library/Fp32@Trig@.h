// SPDX-License-Identifier: Apache-2.0
// dst = @trig@(src). dst may be src. @Reduction@
// it is subtracted with pi in three parts, of which k times the first two is exact for k below 2^12; then an
// odd polynomial on [-pi/2, pi/2], with the sign that odd k brings.
__aicore__ inline void Fp32@Trig@(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                               const LocalTensor<uint8_t>& work)
{
    const int32_t part = (n + 7) / 8 * 8;
    const LocalTensor<float> k = work.ReinterpretCast<float>();
    const LocalTensor<float> r = k[part];
    const LocalTensor<float> t = r[part];
    Muls(k, src, 0.31830988618f, n);
    Muls(r, src, 1.0f, n);@Before@
    Cast(k, k, RoundMode::CAST_RINT, static_cast<uint32_t>(n));
    Muls(t, k, 0.5f, n);
    Cast(t, t, RoundMode::CAST_FLOOR, static_cast<uint32_t>(n));@After@
    Axpy(r, k, -3.140625f, n);
    Axpy(r, k, -9.6750259399e-04f, n);
    Axpy(r, k, -1.5099580253e-07f, n);@Undo@
    Axpy(k, t, -2.0f, n);  // 1 for odd k, 0 for even
    Muls(k, k, @Slope@, n);
    Adds(k, k, @Start@, n);
    Mul(t, r, r, n);
    Mul(k, k, r, n);
    Fp32Horner(r, t, n, -2.386834675e-08f, 2.752397109e-06f, -1.984083282e-04f, 8.333330721e-03f, -1.666666661e-01f, 1.0f);
    Mul(dst, r, k, n);
}
