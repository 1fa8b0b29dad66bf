"""What of our environment reaches npm, and the packages' own install scripts with it."""

import re
from collections.abc import Mapping
from pathlib import Path

from sless.adapters.bundles.environment import pass_on

_PASSED = re.compile(r"npm_config_\S+|NODE_EXTRA_CA_CERTS", re.IGNORECASE)
_KEPT_BACK = re.compile(
    r"npm_config_(prefix|local_prefix|global|location|workspaces?|omit|include|only|production|dev"
    r"|also|dry_run|package_lock|package_lock_only|node_gyp|user_agent|npm_version|init_\w+"
    r"|cache_m\w+|loglevel|color)",
    re.IGNORECASE,
)
"""What would install elsewhere or other things than told, or write what cannot be read."""
_DEFAULTS = {
    # npm would wait for a silent registry for minutes, where a whole new attempt is made anyway.
    "npm_config_fetch_retries": "2",
    "npm_config_fetch_retry_mintimeout": "1000",
    "npm_config_fetch_retry_maxtimeout": "5000",
    "npm_config_fetch_timeout": "60000",
}
_ALWAYS = {
    "npm_config_audit": "false",
    "npm_config_color": "false",
    "npm_config_fund": "false",
    "npm_config_progress": "false",
    "npm_config_update_notifier": "false",
    "npm_config_logs_max": "0",
    "npm_config_yes": "true",
    "NODE_ENV": "production",
    "CI": "true",
}


def render_npm_environment(
    environ: Mapping[str, str], *, home: Path, cache: Path, registry: str, node: Path
) -> dict[str, str]:
    """The whole environment of npm.

    Args:
        environ: Of whoever started the home.
        home: A folder that is npm's own, and gone afterwards.
        cache: npm's cache, shared by builds, unless `environ` names another.
        registry: The package registry, unless `environ` names another; may be empty.
        node: The program that install scripts find as `node`.
    """
    passed = pass_on(environ, _PASSED, kept_back=_KEPT_BACK)
    given = {name.lower() for name in passed}
    wanted = _DEFAULTS | {"npm_config_cache": str(cache)}
    if registry:
        wanted["npm_config_registry"] = registry
    defaults = {name: value for name, value in wanted.items() if name not in given}
    return (
        passed
        | defaults
        | _ALWAYS
        | {"HOME": str(home), "TMPDIR": str(home), "PATH": f"{node.parent}:{passed['PATH']}"}
    )
