"""Fixtures that tests of several kinds ask for; each lies in a small module of its own."""

pytest_plugins = [
    "tests.fixtures.issuer",
    "tests.fixtures.seaweed",
    "tests.fixtures.stores",
    "tests.fixtures.temporal",
]
