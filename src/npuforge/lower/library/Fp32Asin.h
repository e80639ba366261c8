// SPDX-License-Identifier: Apache-2.0
// dst = asin(src), NaN beyond 1. dst may be src. From 0.5 on pi/2 - 2 core, with the sign of src at the end.
__aicore__ inline void Fp32Asin(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> core = work.ReinterpretCast<float>();
    const LocalTensor<float> size = core[part];
    const LocalTensor<float> large = size[part];
    Fp32AsinCore(core, size, src, n, large.ReinterpretCast<uint8_t>());
    Muls(large, core, -2.0f, n);
    Adds(large, large, 1.57079632679f, n);
    Fp32SelectLess(core, size, 0.5f, core, large, n, large[part].ReinterpretCast<uint8_t>());
    Fp32Sign(size, src, n);
    Mul(dst, core, size, n);
}
