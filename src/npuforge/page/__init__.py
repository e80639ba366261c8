# SPDX-License-Identifier: Apache-2.0
"""HTML pages that need nothing else: the frame, the style and the pieces every report shares."""

from npuforge.page.shell import data, page, section, tiles, wide

__all__ = ["data", "page", "section", "tiles", "wide"]
