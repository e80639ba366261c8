// SPDX-License-Identifier: Apache-2.0
// dst[i] = start + i * step, from 0 1 2... because CreateVecIndex has no step. For float exact as long as
// i * step is.
template <typename T>
__aicore__ inline void Iota(const LocalTensor<T>& dst, T start, T step, int32_t n)
{
    if (n <= 0) {
        return;
    }
    CreateVecIndex(dst, static_cast<T>(0), static_cast<uint32_t>(n));
    Muls(dst, dst, step, n);
    Adds(dst, dst, start, n);
}
