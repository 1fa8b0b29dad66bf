"""The folder that Envoy and its writer share."""

from pathlib import Path

from sless.errors import InvalidSetting
from sless.settings import Settings


def envoy_folder(settings: Settings) -> Path:
    """Raises `InvalidSetting` where nothing names it."""
    if settings.gateway.folder is None:
        raise InvalidSetting(
            "SLESS_GATEWAY__FOLDER must name the folder that Envoy and its writer share."
        )
    return settings.gateway.folder.absolute()
