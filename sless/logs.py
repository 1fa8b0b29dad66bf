"""Structured logs: a constant message, its fields, one JSON object per line on standard output."""

import logging
import sys

import structlog
from structlog.typing import Processor

from sless.settings import Settings

_QUIET = ("httpx", "httpcore", "botocore", "boto3", "urllib3", "aiohttp.access")
"""Libraries that tell of every request at a level meant for events."""


def configure_logs(settings: Settings, *, part: str) -> None:
    """Sets up structlog, and the standard library's logging to end in the same lines.

    `part` is in each line; function, build and request id are as far as they are bound.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.UnicodeDecoder(),
        _drop_colours,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(part=part)
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared, _name_part(part)],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_rendering(settings),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    logging.captureWarnings(capture=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _rendering(settings: Settings) -> list[Processor]:
    if settings.log_format == "text":
        return [structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty())]
    return [
        # As text: tracebacks as data would carry local variables, secrets among them.
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(default=str),
    ]


def _drop_colours(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Uvicorn sends a second text, for terminals."""
    event.pop("color_message", None)
    return event


def _name_part(part: str) -> Processor:
    """Other threads, such as a library's, have a context of their own without the part."""

    def name(
        _logger: object, _method: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event.setdefault("part", part)
        return event

    return name
