// SPDX-License-Identifier: Apache-2.0
// dst[i] = src[i] for n elements. Elements of 1 or 8 bytes move as whole 32 B blocks.
template <typename T>
__aicore__ inline void CopyTile(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t n)
{
    if constexpr (sizeof(T) == 1 || sizeof(T) == 8) {
        constexpr int32_t block = 32 / sizeof(T);
        if (n > 0) {
            DataCopy(dst, src, (n + block - 1) / block * block);
        }
    } else {
        constexpr int32_t lanes = 256 / sizeof(T);
        const CopyRepeatParams steps{1, 1, 8, 8};
        int32_t done = 0;
        while (n - done >= lanes) {
            const int32_t left = (n - done) / lanes;
            const int32_t repeats = left < 255 ? left : 255;
            Copy(dst[done], src[done], static_cast<uint64_t>(lanes), static_cast<uint8_t>(repeats), steps);
            done += repeats * lanes;
        }
        if (n > done) {
            Copy(dst[done], src[done], static_cast<uint64_t>(n - done), 1, steps);
        }
    }
}
