# SPDX-License-Identifier: Apache-2.0
"""What is known of a question and of a program so far, on which rules rest."""
