// SPDX-License-Identifier: Apache-2.0
// dst[i] = key[i] < limit ? small[i] : large[i]; a NaN in key takes large. key is read up to a multiple of 64
// elements, bits takes align(n, 64) / 8 bytes. The kernel leaves the last 8 KB of UB to Select.
__aicore__ inline void Fp32SelectLess(const LocalTensor<float>& dst, const LocalTensor<float>& key, float limit,
                                      const LocalTensor<float>& small, const LocalTensor<float>& large, int32_t n,
                                      const LocalTensor<uint8_t>& bits)
{
    CompareScalar(bits, key, limit, CMPMODE::LT, static_cast<uint32_t>((n + 63) / 64 * 64));
    Select(dst, bits, small, large, SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(n));
}
