# SPDX-License-Identifier: Apache-2.0
"""The form of the programs that a model writes, and what stands where in them."""
