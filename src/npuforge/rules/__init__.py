# SPDX-License-Identifier: Apache-2.0
"""The catalogue of rules: one text, one consequence and one fix per stable id."""

from npuforge.rules.catalogue import Place, Rule, Severity, all_rules, for_pipes, get

__all__ = ["Place", "Rule", "Severity", "all_rules", "for_pipes", "get"]
