// SPDX-License-Identifier: Apache-2.0
// dst[i] = the reduction of group i of src: 32 B blocks, or pairs of neighbours. A repeat takes 256 B.
template <typename T>
__aicore__ inline void @Group@Tile(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t n)
{
    constexpr int32_t lanes = 256 / sizeof(T);
    constexpr int32_t results = @Results@;
    int32_t done = 0;
    while (n - done >= lanes) {
        const int32_t left = (n - done) / lanes;
        const int32_t repeats = left < 255 ? left : 255;
        @Group@<T>(dst[done / lanes * results], src[done], repeats, lanes, 1, 1, 8);
        done += repeats * lanes;
    }
    if (n > done) {
        @Group@<T>(dst[done / lanes * results], src[done], 1, n - done, 1, 1, 8);
    }
}
