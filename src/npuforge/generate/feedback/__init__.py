# SPDX-License-Identifier: Apache-2.0
"""A verdict in the few words that help whoever wrote the kernel."""
