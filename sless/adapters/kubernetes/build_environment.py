"""What programs in a build's containers are told by their environment: pure."""

import shlex

from sless.adapters.kubernetes.job_options import JobOptions
from sless.adapters.kubernetes.render_build import CERTIFICATES

_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"})
_PLAIN = {"NO_COLOR": "1", "PIP_PROGRESS_BAR": "off", "UV_NO_PROGRESS": "1"}
"""So that installers write a log and not a terminal."""
_CERTIFICATE_FOLDERS = f"/kaniko/ssl/certs:/etc/ssl/certs:{CERTIFICATES}"
"""Where programs in Go look; a folder that is not there is no error."""
_CERTIFICATE_VARIABLES = (
    *("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    "npm_config_cafile",
)


def render_environment(options: JobOptions) -> str:
    """What an install reads while the image is built: a shell's exports."""
    variables = {**_PLAIN, **options.environment}
    if options.ca_config_map:
        variables |= dict.fromkeys(_CERTIFICATE_VARIABLES, f"{CERTIFICATES}/ca.crt")
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())


def outside(options: JobOptions) -> dict[str, str]:
    """How programs in Go reach registries: proxies, and whom they trust."""
    folders = {"SSL_CERT_DIR": _CERTIFICATE_FOLDERS} if options.ca_config_map else {}
    return proxies(options) | folders


def proxies(options: JobOptions) -> dict[str, str]:
    """By which names the outside is reached, as an operator says."""
    return {name: value for name, value in options.environment.items() if name.upper() in _PROXIES}
