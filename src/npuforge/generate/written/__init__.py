# SPDX-License-Identifier: Apache-2.0
"""Programs written by language models: asked for, judged, sent back with what is wrong."""
