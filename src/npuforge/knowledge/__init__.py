# SPDX-License-Identifier: Apache-2.0
"""What kernels taught: entries that ran on the twin, found by failure, judged by their effect."""
