# SPDX-License-Identifier: Apache-2.0
"""The host side of an operator: its prototype, its tiling, and what its kernel is compiled with."""

from npuforge.twin.host.description import (
    Attribute,
    Field,
    OpDescription,
    Operator,
    Parameter,
    TemplateParameter,
    TilingStruct,
    describe,
)
from npuforge.twin.host.prelude import kernel_prelude
from npuforge.twin.host.project import OperatorProject
from npuforge.twin.host.tiling import (
    OutputTensor,
    TensorSpec,
    TilingRequest,
    TilingResult,
    compute_tiling,
)

__all__ = [
    "Attribute",
    "Field",
    "OpDescription",
    "Operator",
    "OperatorProject",
    "OutputTensor",
    "Parameter",
    "TemplateParameter",
    "TensorSpec",
    "TilingRequest",
    "TilingResult",
    "TilingStruct",
    "compute_tiling",
    "describe",
    "kernel_prelude",
]
