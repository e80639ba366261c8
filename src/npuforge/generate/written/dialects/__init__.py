# SPDX-License-Identifier: Apache-2.0
"""What a model may write in: the tile language, an AscendC kernel, a whole operator project."""
