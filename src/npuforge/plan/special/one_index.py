# SPDX-License-Identifier: Apache-2.0
"""`one_index`: several indices into neighbouring axes as one into the axes taken together."""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import text
from npuforge.spec.size import Size

_TILE = 2048


@writes("one_index")
def one_index(job: Job) -> list[Launch]:
    extents: list[Size] = list(job.special.data["extents"])
    y, p = job.results[0], job.name
    names = [f"i{place}" for place in range(len(job.args))]
    sizes = [f"extent{place}" for place in range(len(job.args))]
    steps: list[str] = []
    for name, extent in zip(names, sizes, strict=True):
        convert = "cast" if job.args[names.index(name)].dtype == "int64" else "copy"
        steps += [
            f"tl.{convert}(one[:n], {name}_tile[:n])",
            "tl.shift_right(signs[:n], one[:n], 31)",
            f"tl.mul(signs[:n], signs[:n], {extent})",
            "tl.sub(one[:n], one[:n], signs[:n])",
            f"tl.mul(out[:n], out[:n], {extent})",
            "tl.add(out[:n], out[:n], one[:n])",
        ]
    kernel = text(
        f"def {p}_kernel({', '.join(names)}, y, total, per_core, tile, {', '.join(sizes)}):",
        [
            "    first = tl.program_id(0) * per_core",
            "    count = min(per_core, total - first)",
            *(
                f"    {name}_tile = tl.alloc_ub(tile, dtype=tl.{tensor.dtype})"
                for name, tensor in zip(names, job.args, strict=True)
            ),
            "    one = tl.alloc_ub(tile, dtype=tl.int32)",
            "    signs = tl.alloc_ub(tile, dtype=tl.int32)",
            "    out = tl.alloc_ub(tile, dtype=tl.int32)",
            "    for t in range(tl.cdiv(count, tile)):",
            "        n = min(tile, count - t * tile)",
            "        start = first + t * tile",
            "        with tl.copyin():",
            *(f"            tl.load({name} + start, {name}_tile[:n])" for name in names),
            "        with tl.compute():",
            "            tl.fill(out[:n], 0)",
            (12, steps),
            "        with tl.copyout():",
            "            tl.store(y + start, out[:n])",
        ],
    )
    tensors = ", ".join(tensor.name for tensor in (*job.args, y))
    host = [
        f"{p}_total = {y.count}",
        f"{p}_per_core = max(512, tl.cdiv({p}_total, tl.num_cores()))",
        f"{p}_cores = max(1, tl.cdiv({p}_total, {p}_per_core))",
        f"{p}_kernel[{p}_cores](",
        f"    {tensors}, {p}_total, {p}_per_core, {_TILE}, {', '.join(map(str, extents))},",
        ")",
    ]
    return [Launch(kernel, host, (y.count, *extents))]
