// SPDX-License-Identifier: Apache-2.0
// dst[index[i]] = src[i], one after another: no vector instruction of this chip writes to computed places.
// Reading costs the scalar unit about 11 cycles whatever the width, so indices are read two at a time.
template <typename T>
__aicore__ inline void ScatterElements(const LocalTensor<T>& dst, const LocalTensor<int32_t>& index,
                                       const LocalTensor<T>& src, int64_t n)
{
    const LocalTensor<int64_t> pairs = index.template ReinterpretCast<int64_t>();
    for (int64_t i = 0; i + 1 < n; i += 2) {
        const int64_t pair = pairs.GetValue(i / 2);
        dst.SetValue(static_cast<uint32_t>(pair), src.GetValue(i));
        dst.SetValue(static_cast<uint32_t>(pair >> 32), src.GetValue(i + 1));
    }
    if (n % 2 != 0) {
        dst.SetValue(index.GetValue(n - 1), src.GetValue(n - 1));
    }
}
