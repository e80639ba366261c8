# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from tests.generate.lm import toy

from npuforge.generate.lm.engine.model import ModelFile


@pytest.fixture(scope="session")
def toy_model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return toy.model(tmp_path_factory.mktemp("toy"))
