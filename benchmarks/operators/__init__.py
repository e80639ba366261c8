# SPDX-License-Identifier: Apache-2.0
"""Vector operators as public model code writes them: the list, its drawing and its measurement."""
