# SPDX-License-Identifier: Apache-2.0
"""How kernels go about it, in words that stand in programs and in what models learn from."""

WAYS = {
    "flat": "A stream: each core takes a share of the elements.",
    "rows": "Whole rows, several at once; what a row shares is computed once a row.",
    "turned": "Square tiles: what lies turned in memory is transposed on the way.",
    "line": "A line as a whole.",
    "columns": "All rows of a few columns at once: reductions run down the tile.",
    "fold": "Each core folds its own pieces; tiles are combined element by element first.",
    "twice": "Each core folds a line, then goes over it again while the cache holds it.",
    "parts": "Too few results for all cores: each core folds a part and keeps its state.",
}

# Bytes that planning counts on for an element of a row that is kept whole.
NARROW = 37
