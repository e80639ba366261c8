# SPDX-License-Identifier: Apache-2.0
"""Tasks that are PyTorch modules in KernelBench's form, and answers that are modules with kernels.

A task's file defines `Model`, `get_inputs` (or `get_input_groups`: several lists of inputs) and
`get_init_inputs`. An answer is one of MultiKernelBench's two AscendC formats.
"""
