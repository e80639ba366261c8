# SPDX-License-Identifier: Apache-2.0
"""Questions in parts, and programs of theirs put together."""
