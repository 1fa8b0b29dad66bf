"""What an operator may set about the gateway."""

from dataclasses import dataclass
from pathlib import Path

from sless.gateway.route import check_address


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Fixed for the life of one Envoy process; a change needs a restart.

    All times are in seconds, all sizes in bytes.
    """

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8080
    """TCP port to listen on."""
    concurrency: int = 0
    """Worker threads; 0 is one per processor."""
    stream_idle: float = 300.0
    """A request in which no byte moves for so long, in either direction, is ended."""
    connection_idle: float = 300.0
    """A caller's connection without a request is closed after so long."""
    upstream_idle: float = 1.0
    """Likewise a function's: below the keep-alive of common servers (gunicorn 2, uvicorn and node
    5), so that the server is never the one who closes, just as a request arrives."""
    headers_timeout: float = 30.0
    """A caller has so long to send the whole request head."""
    connect_timeout: float = 5.0
    """A function's socket must accept within so long."""
    leave: float = 0.0
    """After SIGTERM new connections are taken for so long, each for one request more."""
    drain_timeout: float = 30.0
    """Requests under way after that may go on for so long."""
    buffer: int = 256 * 1024
    """Held per connection and direction before the faster side has to wait."""
    max_connections: int = 10_000
    """Callers' connections at once; more are refused."""
    max_requests: int = 100_000
    """Requests and connections at once per function: out of the way (Envoy's default is 1024)."""
    max_header_kib: int = 64
    """A request's or response's head, in KiB."""
    max_headers: int = 200
    """Header lines in a request or a response."""
    trusted_hops: int = 0
    """Proxies of the operator's own before the gateway, whose X-Forwarded-* are believed."""
    token_issuers: tuple[str, ...] = ()
    """`iss` of the platform's own tokens: an Authorization that bears one is not passed on."""
    pass_token: bool = False
    """Pass the platform's tokens to functions all the same."""
    access_log: Path | None = None
    """File for one JSON line per request; standard output without."""

    def __post_init__(self) -> None:
        """Raises `InvalidSetting` for what Envoy could not listen on."""
        check_address(self.host, self.port)
