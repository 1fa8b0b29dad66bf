"""Chooses the embedded home's adapters: each role opens what it needs, from the settings alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sless.adapters.bundles.images import BundleImages
from sless.adapters.sqlite.database import Database
from sless.errors import InvalidSetting
from sless.local.layout import Layout
from sless.settings import Settings


def home_layout(settings: Settings) -> Layout:
    """The data folder; raises `InvalidSetting` where nothing names it, or for another home."""
    if settings.home != "embedded":
        raise InvalidSetting(f"SLESS_HOME is {settings.home}: this process is the embedded home's.")
    if settings.data is None:
        raise InvalidSetting("SLESS_DATA must name the data folder; sless up does so.")
    return Layout(settings.data.absolute())


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """home.db."""
    database = Database(home_layout(settings).database)
    try:
        yield database
    finally:
        database.close()


def make_images(settings: Settings) -> BundleImages:
    """Bundles on the home's disk."""
    return BundleImages(home_layout(settings).images)
