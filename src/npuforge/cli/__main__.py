# SPDX-License-Identifier: Apache-2.0
"""`python -m npuforge.cli`, for where the entry point is not installed."""

import sys

from npuforge.cli import main

sys.exit(main())
