// SPDX-License-Identifier: Apache-2.0
// acc = high * z^m + ... + last, coefficients from the highest power down. acc is not z.
template <typename... Lower>
__aicore__ inline void Fp32Horner(const LocalTensor<float>& acc, const LocalTensor<float>& z, int32_t n, float high,
                                  Lower... lower)
{
    constexpr int32_t terms = sizeof...(lower);
    const float rest[terms] = {lower...};
    Muls(acc, z, high, n);
    for (int32_t i = 0; i < terms; ++i) {
        Adds(acc, acc, rest[i], n);
        if (i + 1 < terms) {
            Mul(acc, acc, z, n);
        }
    }
}
