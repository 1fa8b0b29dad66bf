"""What Prometheus may scrape: a registry of the application's own."""

from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Metrics:
    """Counters by route template, never by path: their number must not grow with functions."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: Counter = field(init=False)
    seconds: Histogram = field(init=False)
    in_flight: Gauge = field(init=False)
    upload_bytes: Counter = field(init=False)
    asks: Counter = field(init=False)
    log_readers: Gauge = field(init=False)
    refused_tokens: Counter = field(init=False)

    def __post_init__(self) -> None:
        """Registers each instrument."""
        own = {
            "requests": Counter(
                "sless_api_requests_total",
                "Requests by method, route and status.",
                ["method", "route", "status"],
                registry=self.registry,
            ),
            "seconds": Histogram(
                "sless_api_request_seconds",
                "Time to the end of the answer.",
                ["method", "route"],
                registry=self.registry,
            ),
            "in_flight": Gauge(
                "sless_api_in_flight", "Requests under way.", registry=self.registry
            ),
            "upload_bytes": Counter(
                "sless_api_upload_bytes_total", "Bytes of zips received.", registry=self.registry
            ),
            "asks": Counter(
                "sless_api_asks_total", "Asks written, by kind.", ["kind"], registry=self.registry
            ),
            "log_readers": Gauge(
                "sless_api_log_readers", "Readers that follow a log.", registry=self.registry
            ),
            "refused_tokens": Counter(
                "sless_api_tokens_refused_total",
                "Requests refused for their token, by the check that did.",
                ["fault"],
                registry=self.registry,
            ),
        }
        for name, instrument in own.items():
            object.__setattr__(self, name, instrument)

    def render(self) -> bytes:
        """As Prometheus reads it."""
        return generate_latest(self.registry)
