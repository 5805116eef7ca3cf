"""Skip or fail a test because the machine lacks what it needs."""

from __future__ import annotations

from typing import NoReturn

import pytest

from tests.helpers.engines import ENVIRONMENT


def absent(variable: str, missing: str) -> NoReturn:
    """Skip a test for what is missing, or fail it if the environment variable requires it."""
    if ENVIRONMENT.get(variable) == "1":
        pytest.fail(f"{variable}=1, but {missing}", pytrace=False)
    pytest.skip(missing)
