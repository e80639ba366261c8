# SPDX-License-Identifier: Apache-2.0
"""The frame of a page, and its larger pieces. Text is escaped where it enters; HTML is named so."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files

_PLACEHOLDER = re.compile(r"@(\w+)@")
_LICENCE = re.compile(r"\A(<!--|/\*|//) SPDX[^\n]*\n")


def page(
    *, title: str, heading_html: str, subtitle: str, body_html: str, style: str, script: str = ""
) -> str:
    """One HTML text without references to anything outside.

    The page forbids itself all scripts but the one given, by its hash, so that nothing a kernel or
    a task calls itself can run, whatever an error in escaping lets through.
    """
    allowed = "'none'"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        allowed = f"'sha256-{digest}'"
    values = {
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}",
        "title": escape(title),
        "heading": heading_html,
        "subtitle": escape(subtitle),
        "style": data(__package__, "page.css") + style,
        "body": body_html,
        "script": f"<script>{script}</script>" if script else "",
    }
    return _PLACEHOLDER.sub(lambda match: values[match[1]], data(__package__, "page.html"))


@cache
def data(package: str, name: str) -> str:
    """A style, a script or a frame that lies in a package, without its licence line."""
    return _LICENCE.sub("", files(package).joinpath(name).read_text(encoding="utf-8"))


def section(title: str, content_html: str, anchor: str) -> str:
    """A part of the page with a heading; nothing where there is no content."""
    if not content_html:
        return ""
    return f'<section id="{escape(anchor)}"><h2>{escape(title)}</h2>{content_html}</section>'


def wide(content_html: str) -> str:
    """A drawing or table that scrolls where the page is too narrow for it."""
    return f'<div class="wide">{content_html}</div>' if content_html else ""


def tiles(entries: Iterable[tuple[str, str, str, str]]) -> str:
    """A row of large figures: title, value, unit, a note below."""
    cells = "".join(
        f'<div class="tile"><h3>{escape(title)}</h3><p class="figure">{escape(value)}'
        f"<small>{escape(unit)}</small></p><p>{escape(note)}</p></div>"
        for title, value, unit, note in entries
    )
    return f'<div class="tiles">{cells}</div>'
