"""Certificates of an operator's own, trusted besides the system's."""

import ssl
from pathlib import Path

from sless.errors import InvalidSetting


def trust(ca_file: Path | None, *, setting: str) -> ssl.SSLContext:
    """For a client; raises `InvalidSetting`, naming the setting, for a file that cannot be used."""
    context = ssl.create_default_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise InvalidSetting(
                f"{setting} names {ca_file}, which holds no usable certificates: {error}."
            ) from error
    return context
