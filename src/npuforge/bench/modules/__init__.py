# SPDX-License-Identifier: Apache-2.0
"""Tasks that are PyTorch modules in KernelBench's form, and answers to them.

A task's file defines `Model`, `get_inputs` (or `get_input_groups`: several lists of inputs) and
`get_init_inputs`. An answer is in one of MultiKernelBench's two AscendC formats (`python_answer`),
or an operator project or a kernel with a launch file (`project_answer`).
"""
