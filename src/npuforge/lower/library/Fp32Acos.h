// SPDX-License-Identifier: Apache-2.0
// dst = acos(src), NaN beyond 1. dst may be src. pi/2 - asin for |x| < 0.5; otherwise 2 core for positive and
// pi - 2 core for negative x, so that results near 0 keep their digits.
__aicore__ inline void Fp32Acos(const LocalTensor<float>& dst, const LocalTensor<float>& src, int32_t n,
                                const LocalTensor<uint8_t>& work)
{
    n = (n + 7) / 8 * 8;  // whole blocks, whose pad lanes are defined: no byte of a mask is half defined
    const int32_t part = (n + 63) / 64 * 64;
    const LocalTensor<float> core = work.ReinterpretCast<float>();
    const LocalTensor<float> size = core[part];
    const LocalTensor<float> sign = size[part];
    const LocalTensor<float> large = sign[part];
    const LocalTensor<uint8_t> bits = large[part].ReinterpretCast<uint8_t>();
    Fp32AsinCore(core, size, src, n, sign.ReinterpretCast<uint8_t>());
    Fp32Sign(sign, src, n);
    Mul(core, core, sign, n);
    Muls(large, core, 2.0f, n);
    Muls(core, core, -1.0f, n);
    Muls(sign, sign, -1.57079632679f, n);
    Adds(core, core, 1.57079632679f, n);
    Adds(sign, sign, 1.57079632679f, n);  // 0 for positive, pi for negative
    Add(large, large, sign, n);
    Fp32SelectLess(dst, size, 0.5f, core, large, n, bits);
}
