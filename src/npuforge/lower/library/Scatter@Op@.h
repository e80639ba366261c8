// SPDX-License-Identifier: Apache-2.0
// dst[index[i]] = dst[index[i]] @Op@ src[i], one after another, so that equal indices meet in order.
template <typename T>
__aicore__ inline void Scatter@Op@(const LocalTensor<T>& dst, const LocalTensor<int32_t>& index,
                                   const LocalTensor<T>& src, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) {
        const int32_t place = index.GetValue(i);
        const T value = src.GetValue(i);
        const T old = dst.GetValue(place);
        dst.SetValue(place, static_cast<T>(@New@));
    }
}
