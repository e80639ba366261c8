# SPDX-License-Identifier: Apache-2.0
"""The `--jobs` option of commands that share out work over processes."""

from __future__ import annotations

import os

import click

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=os.cpu_count(),
    show_default="cores",
    help="Processes that share the work.",
)
