"""The contract of images, and what a registry asks, against the real one."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sless.adapters.registry.connect import connect_registry
from sless.adapters.registry.place import RegistryPlace
from sless.errors import RegistryDenied, RegistryUnavailable
from tests.cluster.real_registry import RealRegistry, run_registry
from tests.contract.test_images import (  # noqa: F401 - collected here, for another registry
    F,
    Registry,
    test_a_deleted_image_frees_its_tag,
    test_a_reference_names_function_and_digest,
    test_finds_what_was_pushed_and_nothing_else,
    test_one_of_many_promotions_wins_and_all_are_told,
    test_promotes_once,
    test_refuses_to_tag_what_is_not_there,
)

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module", params=[False, True], ids=["http", "https"])
def real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealRegistry]:
    with run_registry(tmp_path_factory.mktemp("registry"), tls=request.param) as running:
        yield running


def _place(real: RealRegistry, prefix: str = "sless") -> RegistryPlace:
    plain = frozenset() if real.ca_file else frozenset({real.address})
    return RegistryPlace(real.address, prefix=prefix, plain_http=plain)


@pytest.fixture
async def registry(real: RealRegistry, tmp_path: Path) -> AsyncIterator[Registry]:
    place = _place(real, prefix=tmp_path.name.replace("_", "-").lower())
    repository = place.repository(F)

    def push(content: str, tag: str) -> str:
        return real.push(repository, content, tag)

    async with connect_registry(
        place, credentials=real.credentials, ca_file=real.ca_file
    ) as images:
        yield Registry(images, push, lambda digest: real.remove(repository, digest))


async def test_nobody_is_let_in_without_a_password(real: RealRegistry) -> None:
    async with connect_registry(_place(real), ca_file=real.ca_file) as images:
        with pytest.raises(RegistryDenied, match="refuses anonymous callers"):
            await images.find(F, "b1")


async def test_a_wrong_password_is_said_to_be_one(real: RealRegistry, tmp_path: Path) -> None:
    wrong = tmp_path / "config.json"
    entry = {"username": "builder", "password": "guessed"}
    wrong.write_text(json.dumps({"auths": {real.address: entry}}))
    async with connect_registry(_place(real), credentials=wrong, ca_file=real.ca_file) as images:
        with pytest.raises(RegistryDenied, match="refuses the user 'builder'") as raised:
            await images.find(F, "b1")
    assert "guessed" not in raised.value.message


async def test_the_wrong_protocol_is_unavailable(real: RealRegistry) -> None:
    other = frozenset({real.address}) if real.ca_file else frozenset()
    place = RegistryPlace(real.address, plain_http=other)
    async with connect_registry(place, credentials=real.credentials) as images:
        with pytest.raises(RegistryUnavailable):
            await images.find(F, "b1")


async def test_an_unknown_certificate_is_not_trusted(tmp_path: Path) -> None:
    with run_registry(tmp_path, tls=True) as real:
        async with connect_registry(_place(real), credentials=real.credentials) as images:
            with pytest.raises(RegistryUnavailable, match="certificate verify failed"):
                await images.find(F, "b1")
