# SPDX-License-Identifier: Apache-2.0
"""Modelled time: reports on a timeline, its bottleneck, its share of the roofline."""
