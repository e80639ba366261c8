// SPDX-License-Identifier: Apache-2.0
// Bit i of mask = a[i] is infinite, of either sign. Capacities as for CompareTiles; work holds one more
// tile of that capacity.
__aicore__ inline void IsInfMask(const LocalTensor<uint8_t>& mask, const LocalTensor<float>& a, int32_t n,
                                 const LocalTensor<uint8_t>& work)
{
    constexpr float largest = 3.40282346638528859812e+38f;
    const LocalTensor<float> magnitude = work.ReinterpretCast<float>();
    const int32_t whole = (n + 63) / 64 * 64;
    Abs(magnitude, a, whole);
    CompareScalar(mask, magnitude, largest, CMPMODE::GT, static_cast<uint32_t>(whole));
}
