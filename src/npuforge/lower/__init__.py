# SPDX-License-Identifier: Apache-2.0
"""The tile language's compiler to AscendC."""
