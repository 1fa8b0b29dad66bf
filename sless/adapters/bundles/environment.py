"""What of our environment reaches an installer: where packages come from, and nothing else.

Everything that the installer runs sees it too, `setup.py` included: no key of S3, no token and no
address of the platform may be in it. What would show a secret is masked in logs.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

_NETWORK = re.compile(
    r"SSL_CERT_FILE|SSL_CERT_DIR|SSL_CLIENT_CERT|(HTTP|HTTPS|ALL|NO)_PROXY"
    r"|(http|https|all|no)_proxy|PATH"
)
_PASSED = re.compile(r"UV_\w+|PIP_\w+|REQUESTS_CA_BUNDLE|NETRC")
_KEPT_BACK = re.compile(r"UV_(PUBLISH|PROJECT|PYTHON|WORKING|ENV_FILE|TARGET|PREFIX|SYSTEM)\w*")
"""A publisher's tokens, and what would install elsewhere than told."""
_FROM_PIP = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""uv does not read pip's settings; whoever set up pip behind a company's proxy expects it to."""
_SECRET_NAME = re.compile(
    r".*(PASSWORD|TOKEN|USERNAME|_AUTH|_INDEX\w*|REGISTRY|PROXY|FIND_LINKS)", re.IGNORECASE
)
_SHORTEST_SECRET = 6
"""Characters: masking shorter ones would blot out ordinary words."""


def render_installer_environment(
    environ: Mapping[str, str], *, home: Path, cache: Path, index_url: str = ""
) -> dict[str, str]:
    """An installer's whole environment.

    Args:
        environ: Of whoever started the home.
        home: A folder that is the installer's own, and gone afterwards.
        cache: uv's cache, shared by builds, unless `environ` names another.
        index_url: The package index, unless `environ` names another; may be empty.
    """
    passed = pass_on(environ, _PASSED, kept_back=_KEPT_BACK)
    for theirs, ours in _FROM_PIP.items():
        if theirs in passed:
            passed.setdefault(ours, passed[theirs])
    if index_url:
        passed.setdefault("UV_DEFAULT_INDEX", index_url)
    passed.setdefault("UV_CACHE_DIR", str(cache))
    return passed | {
        "HOME": str(home),
        "TMPDIR": str(home),
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_LINK_MODE": "copy",  # a link into the cache would share files between functions
    }


def pass_on(
    environ: Mapping[str, str], passed: re.Pattern[str], *, kept_back: re.Pattern[str]
) -> dict[str, str]:
    """What every installer is given, and of the rest the variables of those names."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
    } | {
        name: value
        for name, value in environ.items()
        if _NETWORK.fullmatch(name) or (passed.fullmatch(name) and not kept_back.fullmatch(name))
    }


def find_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """What must not be shown, each with what to show instead: `$` and the variable's name."""
    secrets: dict[str, str] = {}
    for name, value in environ.items():
        if _SECRET_NAME.fullmatch(name) and name.lower() != "no_proxy":
            for part in _secret_parts(value):
                secrets.setdefault(part, f"${name}")
    return dict(sorted(secrets.items(), key=lambda item: -len(item[0])))


def _secret_parts(value: str) -> list[str]:
    parts = [value, *value.split()]
    for word in value.split():
        try:
            url = urlsplit(word.partition("=")[2] if "=" in word.partition("://")[0] else word)
        except ValueError:
            continue
        user, at, _ = url.netloc.rpartition("@")
        if at:
            parts += [
                user,
                *user.split(":"),
                url._replace(netloc=url.netloc[len(user) + 1 :]).geturl(),
            ]
    return [part for part in parts if len(part) >= _SHORTEST_SECRET]


def mask(text: str, secrets: Mapping[str, str]) -> str:
    """The text without secrets."""
    for secret, shown in secrets.items():
        text = text.replace(secret, shown)
    return text
