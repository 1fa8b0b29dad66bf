"""What of our environment reaches an installer, and what is masked in its log."""

from pathlib import Path

from sless.adapters.bundles.environment import find_secrets, mask, render_installer_environment

OURS = {
    "AWS_ACCESS_KEY_ID": "k",
    "AWS_SECRET_ACCESS_KEY": "s",
    "TEMPORAL_ADDRESS": "t",
    "SLESS_TOKEN": "x",
    "SLESS_STORAGE__ENDPOINT": "y",
    "UV_PUBLISH_TOKEN": "p",
    "UV_PUBLISH_PASSWORD": "p",
    "UV_PROJECT_ENVIRONMENT": "/elsewhere",
    "UV_PYTHON": "3.8",
    "LD_PRELOAD": "/x.so",
    "PYTHONPATH": "/ours",
}
THEIRS = {
    "UV_DEFAULT_INDEX": "https://user:secret-word@index.example/simple",
    "UV_INDEX_PRIVATE_PASSWORD": "another-secret",
    "PIP_RETRIES": "1",
    "SSL_CERT_FILE": "/ca.pem",
    "HTTPS_PROXY": "http://proxy.example:3128",
    "no_proxy": "localhost",
}


def _render(environ: dict[str, str], *, index_url: str = "") -> dict[str, str]:
    return render_installer_environment(
        environ, home=Path("/job"), cache=Path("/cache"), index_url=index_url
    )


def test_passes_where_packages_come_from_and_nothing_else() -> None:
    rendered = _render(OURS | THEIRS)
    assert not OURS.keys() & rendered.keys()
    assert {name: rendered[name] for name in THEIRS} == THEIRS
    assert rendered["HOME"] == "/job"


def test_pips_settings_serve_where_uvs_are_not_set() -> None:
    assert _render({"PIP_INDEX_URL": "https://a"})["UV_DEFAULT_INDEX"] == "https://a"
    both = {"PIP_INDEX_URL": "https://a", "UV_DEFAULT_INDEX": "https://b"}
    assert _render(both)["UV_DEFAULT_INDEX"] == "https://b"


def test_the_homes_index_gives_way_to_the_environments() -> None:
    assert _render({}, index_url="https://home")["UV_DEFAULT_INDEX"] == "https://home"
    assert (
        _render(THEIRS, index_url="https://home")["UV_DEFAULT_INDEX"] == THEIRS["UV_DEFAULT_INDEX"]
    )


def test_masks_secrets_whole_and_in_parts() -> None:
    secrets = find_secrets(THEIRS)
    text = (
        "Fetching https://user:secret-word@index.example/simple/six/ and"
        " https://index.example/simple/six/ with secret-word and another-secret"
    )
    masked = mask(text, secrets)
    for secret in ("secret-word", "another-secret", "index.example"):
        assert secret not in masked
    assert "$UV_DEFAULT_INDEX/six/" in masked


def test_masks_named_indexes() -> None:
    secrets = find_secrets(
        {"UV_INDEX": "corp=https://token-word@corp.example/simple https://b.example/s"}
    )
    masked = mask("https://corp.example/simple/a token-word https://b.example/s/a", secrets)
    assert masked == "$UV_INDEX/a $UV_INDEX $UV_INDEX/a"


def test_masks_no_ordinary_word() -> None:
    assert (
        find_secrets({"NO_PROXY": "localhost", "UV_HTTP_RETRIES": "1000000", "PATH": "/usr/bin"})
        == {}
    )
