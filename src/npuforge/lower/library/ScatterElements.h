// SPDX-License-Identifier: Apache-2.0
// dst[index[i]] = src[i], one after another: no vector instruction of this chip writes to computed places.
// Reading costs the scalar unit about 11 cycles whatever the width, so two indices are read at a time, and
// two values where they are 32 bits wide.
template <typename T>
__aicore__ inline void ScatterElements(const LocalTensor<T>& dst, const LocalTensor<int32_t>& index,
                                       const LocalTensor<T>& src, int64_t n)
{
    const LocalTensor<int64_t> places = index.template ReinterpretCast<int64_t>();
    for (int64_t i = 0; i + 1 < n; i += 2) {
        const int64_t place = places.GetValue(i / 2);
        if constexpr (sizeof(T) == 4) {
            const LocalTensor<uint32_t> words = dst.template ReinterpretCast<uint32_t>();
            const int64_t values = src.template ReinterpretCast<int64_t>().GetValue(i / 2);
            words.SetValue(static_cast<uint32_t>(place), static_cast<uint32_t>(values));
            words.SetValue(static_cast<uint32_t>(place >> 32), static_cast<uint32_t>(values >> 32));
        } else {
            dst.SetValue(static_cast<uint32_t>(place), src.GetValue(i));
            dst.SetValue(static_cast<uint32_t>(place >> 32), src.GetValue(i + 1));
        }
    }
    if (n % 2 != 0) {
        dst.SetValue(index.GetValue(n - 1), src.GetValue(n - 1));
    }
}
