"""multipart/form-data uploads, parsed while they arrive: one zip, and settings in JSON."""

from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from api.json_body import parse_json
from api.models import Settings
from api.spool import Spool
from sless.errors import InvalidSetting, RequestTooLarge

CODE = "code"
SETTINGS = "settings"
SETTINGS_BYTES = 512 * 1024
"""The settings part: what a spec may hold, doubled by JSON's escapes."""


@dataclass(slots=True)
class FormReader:
    """Feeds `code` to the spool and keeps `settings`; any other part is a mistake."""

    spool: Spool
    boundary: bytes
    seen: list[str] = field(default_factory=list)
    settings: bytearray = field(default_factory=bytearray)
    ended: bool = False
    _parser: MultipartParser = field(init=False)
    _header: tuple[bytearray, bytearray] = field(init=False)
    _headers: dict[bytes, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepares the parser."""
        self._header = (bytearray(), bytearray())
        self._parser = MultipartParser(
            self.boundary,
            {
                "on_header_field": lambda data, start, end: self._grow(0, data[start:end]),
                "on_header_value": lambda data, start, end: self._grow(1, data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_part,
                "on_part_data": lambda data, start, end: self._take(data[start:end]),
                "on_end": self._end,
            },
        )

    def feed(self, data: bytes) -> None:
        """Parses on; raises `InvalidSetting`, `RequestTooLarge`."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise InvalidSetting(f"The form cannot be read: {error}.") from error

    def finish(self) -> Settings:
        """The settings that came, once all has; raises `InvalidSetting`."""
        if not self.ended:
            raise InvalidSetting("The form ends early: its last boundary is missing.")
        if CODE not in self.seen:
            raise InvalidSetting(f"The form has no part named {CODE!r}: put the zip there.")
        return parse_json(bytes(self.settings), Settings) if self.settings else Settings()

    def _grow(self, at: int, data: bytes) -> None:
        self._header[at].extend(data)

    def _end_header(self) -> None:
        name, value = self._header
        self._headers[bytes(name).lower()] = bytes(value)
        self._header = (bytearray(), bytearray())

    def _begin_part(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        self._headers = {}
        if name not in {CODE, SETTINGS}:
            raise InvalidSetting(
                f"The form's part {name[:80]!r} is not known: put the zip into {CODE!r} and the "
                f"settings, in JSON, into {SETTINGS!r}."
            )
        if name in self.seen:
            raise InvalidSetting(f"The form has two parts named {name!r}.")
        self.seen.append(name)

    def _take(self, data: bytes) -> None:
        if self.seen[-1] == CODE:
            self.spool.take(data)
            return
        self.settings += data
        if len(self.settings) > SETTINGS_BYTES:
            raise RequestTooLarge(f"The form's settings are over {SETTINGS_BYTES} bytes.")

    def _end(self) -> None:
        self.ended = True


def parse_boundary(content_type: str) -> bytes:
    """The boundary that a Content-Type names; raises `InvalidSetting`."""
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not 0 < len(boundary) <= 70:  # noqa: PLR2004 - RFC 2046's limit
        raise InvalidSetting("multipart/form-data needs a boundary of 1 to 70 characters.")
    return boundary
