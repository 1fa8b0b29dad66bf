"""From settings to build Jobs, the registry and base images."""

from typing import Any

import pytest

from sless.adapters.kubernetes.build_environment import render_environment
from sless.adapters.kubernetes.builder_options import (
    graces_of,
    job_options_of,
    place_of,
    runtimes_of,
)
from sless.adapters.kubernetes.job_options import BuilderKind
from sless.dependencies import Language
from sless.errors import InvalidSetting
from sless.settings import BuilderSettings, RegistrySettings, RuntimesSettings, Settings

REGISTRY: dict[str, Any] = {"push": "registry.sless:5000", "plain_http": ["registry.sless:5000"]}
IMAGES = {"build_image": "builder@sha256:1", "push_image": "skopeo@sha256:2"}


def settings(**groups: Any) -> Settings:
    return Settings(**{"registry": REGISTRY, "builder": IMAGES, **groups})


def test_what_an_operator_sets_arrives() -> None:
    options = job_options_of(
        settings(
            builder={**IMAGES, "kind": "buildah", "push_secret": "p", "unschedulable_seconds": 60},
            limits={"build_memory_bytes": 1024 * 1024 * 1536},
        )
    )
    assert options.kind is BuilderKind.BUILDAH
    assert options.build.memory_limit == "1536Mi"
    assert options.push_secret == "p"
    assert options.slack_seconds == 360
    assert options.place.url == "http://registry.sless:5000"
    assert graces_of(BuilderSettings(start_seconds=7)).other == 7


def test_indexes_and_proxies_reach_the_build() -> None:
    options = job_options_of(
        settings(
            runtimes={"index_url": "https://i/simple", "npm_registry": "https://n"},
            builder={**IMAGES, "https_proxy": "http://p:3128", "no_proxy": ".svc"},
        )
    )
    assert render_environment(options).splitlines()[3:] == [
        "export UV_DEFAULT_INDEX=https://i/simple",
        "export PIP_INDEX_URL=https://i/simple",
        "export npm_config_registry=https://n",
        "export HTTP_PROXY=http://p:3128",
        "export HTTPS_PROXY=http://p:3128",
        "export https_proxy=http://p:3128",
        "export NO_PROXY=.svc",
        "export no_proxy=.svc",
    ]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"registry": {}}, "SLESS_REGISTRY__PUSH must name"),
        ({"builder": {"push_image": "s"}}, "SLESS_BUILDER__BUILD_IMAGE must name"),
        ({"builder": {"build_image": "b"}}, "SLESS_BUILDER__PUSH_IMAGE must name"),
        ({"builder": {**IMAGES, "kind": "buildah", "user_namespaces": False}}, "use kaniko"),
    ],
)
def test_what_is_missing_is_named(groups: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        job_options_of(settings(**groups))


@pytest.mark.parametrize("address", ["https://r", "r/path", "user@r", "r:port", "a b"])
def test_an_address_is_a_host(address: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        RegistrySettings(push=address)


def test_addresses_that_are_hosts() -> None:
    for address in ("r", "registry.example:5000", "10.0.0.1:5000"):
        assert place_of(RegistrySettings(push=address)).push == address


def test_base_images_are_those_that_were_set_or_the_usual_ones() -> None:
    runtimes = runtimes_of(
        RuntimesSettings(
            offered=("python3.11", "python3.99", "node20"),
            base_images={"python3.99": "r/py@sha256:1", "node20": "r/node"},
        )
    )
    assert {name: each.base_image for name, each in runtimes.items()} == {
        "python3.11": "python:3.11-slim",
        "python3.99": "r/py@sha256:1",
        "node20": "r/node",
    }
    assert runtimes["python3.99"].language is Language.PYTHON


@pytest.mark.parametrize(
    ("base_images", "said"), [({}, "base image of cobol74"), ({"cobol74": "c"}, "nothing here")]
)
def test_a_runtime_that_cannot_be_built(base_images: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        runtimes_of(RuntimesSettings(offered=("cobol74",), base_images=base_images))
