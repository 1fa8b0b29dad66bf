"""Fixtures that tests of several kinds ask for; each lies in a small module of its own."""

import pytest
from hypothesis import settings

# Its assertions are as telling as a test's.
pytest.register_assert_rewrite("tests.e2e.any_home", "tests.e2e.lives")

# A property is slow where the machine is busy: that is no failure of it.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = [
    "tests.fixtures.issuer",
    "tests.fixtures.seaweed",
    "tests.fixtures.stores",
    "tests.fixtures.temporal",
]
