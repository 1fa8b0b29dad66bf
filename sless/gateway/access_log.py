"""One JSON line per request: enough to find it again, nothing secret."""

from sless.gateway.clusters import METADATA
from sless.gateway.proto import Json, extension
from sless.gateway.settings import GatewaySettings

# A request too broken to be read gets its id with the answer.
_REQUEST_ID = '%COALESCE({"operators":["STREAM_ID",{"command":"RESP","param":"X-REQUEST-ID"}]})%'
_FIELDS = {
    "time": "%START_TIME%",
    "request_id": _REQUEST_ID,
    "namespace": f"%CLUSTER_METADATA({METADATA}:namespace)%",
    "function": f"%CLUSTER_METADATA({METADATA}:function)%",
    "generation": f"%CLUSTER_METADATA({METADATA}:generation)%",
    "method": "%REQ(:METHOD)%",
    # Below the function, and without the query: that is where people put tokens.
    "path": "%PATH(NQ:PATH)%",
    "protocol": "%PROTOCOL%",
    "status": "%RESPONSE_CODE%",
    "flags": "%RESPONSE_FLAGS%",
    "details": "%RESPONSE_CODE_DETAILS%",
    "duration_ms": "%DURATION%",
    "bytes_received": "%BYTES_RECEIVED%",
    "bytes_sent": "%BYTES_SENT%",
    "client": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
    "upstream": "%UPSTREAM_HOST%",
}


def render_access_log(settings: GatewaySettings) -> Json:
    """Envoy's access logger to the file, or to standard output."""
    line: Json = {"log_format": {"json_format": _FIELDS}}
    if settings.access_log is None:
        kind = "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog"
        return extension("envoy.access_loggers.stdout", kind, line)
    kind = "envoy.extensions.access_loggers.file.v3.FileAccessLog"
    return extension("envoy.access_loggers.file", kind, {"path": str(settings.access_log), **line})
