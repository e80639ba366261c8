# SPDX-License-Identifier: Apache-2.0
"""The twin: unmodified AscendC kernels compiled, run, checked and timed on any CPU."""
