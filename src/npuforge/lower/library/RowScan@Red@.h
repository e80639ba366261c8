// SPDX-License-Identifier: Apache-2.0
// dst[r][c] = @Red@ of src[r][0..c], whole 32 B blocks. dst may be src. identity is the neutral element.
// Products are never taken in another order: a part of a row may overflow where the row itself does not.
template <typename T>
__aicore__ inline void RowScan@Red@(const LocalTensor<T>& dst, const LocalTensor<T>& src, T identity, int32_t rows,
                                    int32_t cols, int32_t pitch, const LocalTensor<uint8_t>& work)
{
    constexpr bool inOrder = "@Red@"[0] == 'P';
    if (!inOrder && rows < 16 && cols > 128) {
        RowScanLong@Red@(dst, src, identity, rows, cols, pitch, work);
    } else {
        RowScanShort@Red@(dst, src, rows, cols, pitch, work);
    }
}
