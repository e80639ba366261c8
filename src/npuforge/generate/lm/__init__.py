# SPDX-License-Identifier: Apache-2.0
"""Programs by the embedded model: a small one that runs on the CPU."""
