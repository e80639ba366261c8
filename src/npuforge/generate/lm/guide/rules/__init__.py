# SPDX-License-Identifier: Apache-2.0
"""What a line of a program must be, one reason a module."""
