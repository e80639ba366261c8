# SPDX-License-Identifier: Apache-2.0
"""What cannot stand in an answer, and what must stand next: read along as it is written."""
