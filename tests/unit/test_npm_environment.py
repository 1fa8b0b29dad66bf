"""What of our environment reaches npm and the install scripts of packages."""

from pathlib import Path

from sless.adapters.bundles.environment import find_secrets, mask
from sless.adapters.bundles.npm_environment import render_npm_environment

OURS = {
    "AWS_SECRET_ACCESS_KEY": "s",
    "TEMPORAL_ADDRESS": "t",
    "SLESS_TOKEN": "x",
    "NPM_TOKEN": "p",
    "NODE_AUTH_TOKEN": "p",
    "NODE_OPTIONS": "--require /x.js",
    "LD_PRELOAD": "/x.so",
    "npm_config_prefix": "/elsewhere",
    "npm_config_global": "true",
    "NPM_CONFIG_OMIT": "",
}
THEIRS = {
    "npm_config_registry": "https://npm.example/",
    "npm_config_//npm.example/:_authToken": "secret-word",
    "NPM_CONFIG_IGNORE_SCRIPTS": "true",
    "npm_config_cafile": "/ca.pem",
    "NODE_EXTRA_CA_CERTS": "/ca.pem",
    "HTTPS_PROXY": "http://proxy.example:3128",
    "no_proxy": "localhost",
}


def _render(environ: dict[str, str], *, registry: str = "") -> dict[str, str]:
    return render_npm_environment(
        environ,
        home=Path("/job"),
        cache=Path("/cache"),
        registry=registry,
        node=Path("/opt/node/bin/node"),
    )


def test_passes_where_packages_come_from_and_nothing_else() -> None:
    rendered = _render(OURS | THEIRS | {"PATH": "/bin"})
    assert not OURS.keys() & rendered.keys()
    assert {name: rendered[name] for name in THEIRS} == THEIRS
    assert (rendered["HOME"], rendered["npm_config_cache"]) == ("/job", "/cache")
    assert rendered["PATH"] == "/opt/node/bin:/bin", "scripts find the function's own Node.js"


def test_the_homes_registry_gives_way_to_the_environments() -> None:
    assert _render({}, registry="https://home")["npm_config_registry"] == "https://home"
    assert "npm_config_registry" not in _render({})
    theirs = {"NPM_CONFIG_REGISTRY": "https://theirs"}
    rendered = _render(theirs, registry="https://home")
    assert "npm_config_registry" not in rendered
    assert rendered["NPM_CONFIG_REGISTRY"] == "https://theirs"


def test_a_token_of_the_registry_is_masked_in_logs() -> None:
    secrets = find_secrets(THEIRS)
    assert "secret-word" not in mask("token: secret-word", secrets)
