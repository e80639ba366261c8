# SPDX-License-Identifier: Apache-2.0
"""Write generated documentation: `python -m npuforge.tile.page docs examples/tile`.

The table of operations in `tile.md` comes from `ops.toml`; `tile-examples.md` shows the example
programs, one for each category.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from npuforge.tile import ops

_MARKS = re.compile(r"(<!-- operations -->\n).*?(<!-- /operations -->)", re.DOTALL)
_NOTES = {
    "binary": "a and b: tiles, rows, columns or one scalar.",
    "select": "a and b: tiles or scalars.",
    "compare": "b: a tile or a scalar.",
    "reduce": "axis=1 gives one result for each row, axis=0 for each column; "
    "without axis the result has one element.",
    "gather": "one dimension; the index is int32.",
    "scatter": "one dimension; the index is int32.",
    "compact": "one dimension; count, an int32 tile of one element, becomes their number.",
    "topk": "as many as values has elements.",
}


def operations() -> str:
    """The table of operations."""
    lines = ["| operation | element types | meaning |", "|---|---|---|"]
    for name, info in ops.table().items():
        call = f"tl.{name}({info.arguments})"
        meaning = " ".join(part for part in (info.doc, _NOTES.get(info.form, "")) if part)
        lines.append(f"| `{call}` | {', '.join(info.dtypes) or 'masks'} | {meaning} |")
    return "\n".join(lines).replace("dst[i]", "`dst[i]`") + "\n"


def with_operations(page: str) -> str:
    """`page` with the table brought up to date."""
    table = operations()
    return _MARKS.sub(lambda match: match[1] + table + match[2], page)


def examples(folder: Path) -> str:
    """The page of worked examples."""
    parts = [
        "<!-- Written by `python -m npuforge.tile.page docs examples/tile`. -->",
        "# Tile programs, one for each category",
        "",
        "Each of these is compiled and compared with PyTorch in the tests, over awkward shapes.",
    ]
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8").replace(
            "# SPDX-License-Identifier: Apache-2.0\n", ""
        )
        doc = re.search(r'"""(.*?)"""', text, re.DOTALL)
        title = path.stem.replace("_", " ").capitalize()
        summary = textwrap.fill(" ".join(doc[1].split()) if doc else "", 98)
        body = text[doc.end() :].strip() if doc else text.strip()
        parts += ["", f"## {title}", "", summary, "", "```python", body, "```"]
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> None:
    docs, folder = (Path(argument) for argument in arguments)
    page = docs / "tile.md"
    page.write_text(with_operations(page.read_text(encoding="utf-8")), encoding="utf-8")
    (docs / "tile-examples.md").write_text(examples(folder), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
