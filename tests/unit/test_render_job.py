"""The Job of an attempt: who gets which secret, and what holds for both builders."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.adapters.kubernetes.build_environment import render_environment
from sless.adapters.kubernetes.job_options import BuilderKind, BuildImages, JobOptions
from sless.adapters.kubernetes.render_job import labels_of, render_job
from sless.adapters.registry.place import RegistryPlace
from sless.archive.dockerfile import BUILD_ENVIRONMENT
from sless.errors import InvalidSetting
from sless.model.attempt import CONTAINERS, Attempt
from sless.naming import NAME_MAX, NAMESPACE_MAX, RESOURCE_MAX

URL = "https://s3.example/contexts/abc.tar.gz?X-Amz-Signature=feed"
ATTEMPT = Attempt("team", "thumb", "u-1", "0123456789ab", "67a1b2c34d5e", "python3.11", "ab" * 32)
OPTIONS = JobOptions(
    RegistryPlace("registry.sless:5000", plain_http=frozenset({"registry.sless:5000"})),
    BuildImages(fetch="python", build="builder", push="skopeo"),
    push_secret="push-auth",
    pull_secret="pull-auth",
    ca_config_map="company-ca",
    environment={"UV_DEFAULT_INDEX": "https://pypi.example/simple?a=$b", "HTTPS_PROXY": "http://p"},
)
BUILDAH = replace(OPTIONS, kind=BuilderKind.BUILDAH)
BASED = replace(
    BUILDAH, base_secret="base-auth", base_images={"python3.11": "registry.sless:5000/base/py:1"}
)

BASED_KANIKO = replace(BASED, kind=BuilderKind.KANIKO)

both = pytest.mark.parametrize(
    "options",
    [OPTIONS, BUILDAH, BASED, BASED_KANIKO],
    ids=["kaniko", "buildah", "buildah-based", "kaniko-based"],
)


def pod_of(options: JobOptions) -> dict[str, Any]:
    spec: dict[str, Any] = render_job(ATTEMPT, options, context_url=URL)["spec"]
    return dict(spec["template"]["spec"])


def containers(options: JobOptions) -> dict[str, dict[str, Any]]:
    pod = pod_of(options)
    return {each["name"]: each for each in (*pod["initContainers"], *pod["containers"])}


def mounts(container: Mapping[str, Any]) -> dict[str, str]:
    return {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}


def strings(value: Any) -> Iterator[str]:
    """Every text in a manifest."""
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from strings(item)
        case list():
            for item in value:
                yield from strings(item)


@both
def test_the_containers_run_in_their_order(options: JobOptions) -> None:
    names = [name for name in containers(options) if name != "mirror"]
    assert names == [name for name in CONTAINERS if name != "base" or options.base_secret]


@both
def test_the_presigned_url_is_in_the_fetching_container_alone(options: JobOptions) -> None:
    holding = {
        name for name, each in containers(options).items() if any(URL in s for s in strings(each))
    }
    assert holding == {"fetch"}
    whole = json.dumps(render_job(ATTEMPT, options, context_url=URL))
    assert whole.count(URL) == 1


@both
def test_the_registrys_password_is_mounted_in_the_pushing_container_alone(
    options: JobOptions,
) -> None:
    assert {name for name, each in containers(options).items() if "auth" in mounts(each)} == {
        "push"
    }


def test_a_base_images_password_is_in_a_container_of_its_own() -> None:
    """Two credentials: neither container sees the other's, and what builds sees none."""
    with_base = containers(BASED)
    auth = {name: set(mounts(each)) & {"auth", "base-auth"} for name, each in with_base.items()}
    assert auth == {"fetch": set(), "base": {"base-auth"}, "build": set(), "push": {"auth"}}
    assert "docker://registry.sless:5000/base/py:1" in with_base["base"]["command"]
    assert "--src-tls-verify=false" in with_base["base"]["command"]
    assert "--pull=never" in with_base["build"]["command"][-1]
    secrets = [each["secret"] for each in pod_of(BASED)["volumes"] if "secret" in each]
    assert [secret["secretName"] for secret in secrets] == ["push-auth", "base-auth"]


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("registry.sless:5000/base/py:1", "registry.sless:5000"),
        ("python:3.11-slim", "index.docker.io"),
        ("docker.io/library/python:3.11", "index.docker.io"),
        ("team/python@sha256:1", "index.docker.io"),
        ("localhost/python", "localhost"),
    ],
)
def test_kaniko_is_served_the_base_image_by_a_neighbour(image: str, registry: str) -> None:
    based = containers(replace(BASED, kind=BuilderKind.KANIKO, base_images={"python3.11": image}))
    assert tuple(based) == ("fetch", "base", "mirror", "build", "push")
    assert f"--registry-map={registry}=127.0.0.1:5999" in based["build"]["args"]
    assert "--skip-default-registry-fallback" in based["build"]["args"]
    assert mounts(based["mirror"]) == {"base": "/base"}
    assert based["mirror"]["restartPolicy"] == "Always"
    assert "base" not in mounts(based["build"])


@both
def test_nothing_else_of_the_platforms_is_in_the_pod(options: JobOptions) -> None:
    pod = pod_of(options)
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert "serviceAccountName" not in pod
    sources = {kind for volume in pod["volumes"] for kind in volume} - {"name"}
    assert sources == {"emptyDir", "secret", "configMap"}
    for container in containers(options).values():
        assert all("valueFrom" not in each for each in container["env"])
        assert "envFrom" not in container


@both
def test_the_pod_is_confined(options: JobOptions) -> None:
    pod = pod_of(options)
    assert pod["hostUsers"] is False
    assert pod["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
    for name, container in containers(options).items():
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"]["drop"] == ["ALL"]
        assert context.get("readOnlyRootFilesystem", False) is (name != "build")
        assert "privileged" not in context
        assert container["resources"]["limits"]["memory"]
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)


def test_kaniko_needs_no_capability_that_baseline_forbids() -> None:
    added = containers(OPTIONS)["build"]["securityContext"]["capabilities"]["add"]
    assert set(added) == {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID", "FSETID"}


@both
def test_a_job_runs_once_and_ends_by_itself(options: JobOptions) -> None:
    spec = render_job(ATTEMPT, options, context_url=URL)["spec"]
    assert spec["backoffLimit"] == 0
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert spec["template"]["spec"]["activeDeadlineSeconds"] == ATTEMPT.deadline_seconds
    assert spec["activeDeadlineSeconds"] > ATTEMPT.deadline_seconds
    assert spec["ttlSecondsAfterFinished"] == 86_400


def test_both_builders_have_one_fetcher_and_one_pusher() -> None:
    kaniko, buildah = containers(OPTIONS), containers(BUILDAH)
    assert kaniko["fetch"] == buildah["fetch"]
    assert kaniko["push"] == buildah["push"]


def test_what_is_pushed_and_how_its_digest_is_told() -> None:
    command = containers(OPTIONS)["push"]["command"]
    assert command[:2] == ["skopeo", "--insecure-policy"]
    assert command[-2:] == [
        "oci:/out/img",
        "docker://registry.sless:5000/sless/team/thumb:0123456789ab-67a1b2c34d5e",
    ]
    assert "--digestfile=/dev/termination-log" in command
    assert "--authfile=/auth/config.json" in command
    assert "--dest-tls-verify=false" in command


def test_a_registry_by_tls_that_asks_nobody() -> None:
    options = replace(OPTIONS, place=RegistryPlace("registry.example"), push_secret="")
    command = containers(options)["push"]["command"]
    assert not [word for word in command if "tls" in word or "auth" in word]
    assert "--dest-no-creds" in command
    assert not [volume for volume in pod_of(options)["volumes"] if "secret" in volume]


@pytest.mark.parametrize("options", [OPTIONS, BUILDAH], ids=["kaniko", "buildah"])
def test_the_builder_speaks_plain_http_where_it_was_told_to(options: JobOptions) -> None:
    assert any("registry.sless:5000" in text for text in strings(containers(options)["build"]))
    tls = replace(options, place=RegistryPlace("registry.example"))
    assert not any("registry.sless" in text for text in strings(containers(tls)["build"]))


def test_what_installs_read_while_building() -> None:
    lines = render_environment(OPTIONS).splitlines()
    assert "export NO_COLOR=1" in lines
    assert lines[3] == "export UV_DEFAULT_INDEX='https://pypi.example/simple?a=$b'"
    assert "export PIP_CERT=/sless/ca/ca.crt" in lines
    fetch = {each["name"]: each["value"] for each in containers(OPTIONS)["fetch"]["env"]}
    assert fetch["SETTINGS_FILE"] == BUILD_ENVIRONMENT
    # Kubernetes reads `$$` as a dollar, and `$(NAME)` as a variable's value.
    assert "a=$$b" in fetch["SETTINGS"]
    plain = render_environment(replace(OPTIONS, environment={}, ca_config_map=""))
    assert len(plain.splitlines()) == 3


@both
def test_the_index_is_no_variable_of_the_building_container(options: JobOptions) -> None:
    """It would be one of the image's, with some builders."""
    build = containers(options)["build"]
    assert {each["name"] for each in build["env"]} >= {"HTTPS_PROXY", "SSL_CERT_DIR"}
    assert not any("pypi.example" in text for text in strings(build))
    assert mounts(build)["control"] == "/sless/build"


def test_without_user_namespaces_nothing_asks_for_them() -> None:
    options = replace(OPTIONS, user_namespaces=False)
    assert "hostUsers" not in pod_of(options)
    fetch = {each["name"]: each["value"] for each in containers(options)["fetch"]["env"]}
    assert fetch["USER_NAMESPACE"] == ""


def test_buildah_never_goes_without_a_user_namespace() -> None:
    with pytest.raises(InvalidSetting, match="SYS_ADMIN on the node"):
        replace(BUILDAH, user_namespaces=False)


names = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True)


@given(name=names, namespace=st.text("abc-z", min_size=1, max_size=NAMESPACE_MAX))
def test_names_and_labels_fit(name: str, namespace: str) -> None:
    attempt = replace(ATTEMPT, name=name, namespace=namespace)
    job = render_job(attempt, OPTIONS, context_url=URL)
    assert len(name) <= NAME_MAX
    assert len(job["metadata"]["name"]) <= RESOURCE_MAX
    assert job["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]
    assert all(len(value) <= RESOURCE_MAX for value in labels_of(attempt).values())
