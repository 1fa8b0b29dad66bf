"""What every registry of images does, the pretended one included."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from sless.adapters.bundles.bundle import Bundle
from sless.adapters.bundles.images import BundleImages
from sless.adapters.bundles.trees import remove_tree
from sless.adapters.registry.authority import Authority
from sless.adapters.registry.images import RegistryImages
from sless.adapters.registry.place import RegistryPlace
from sless.adapters.registry.session import RegistrySession
from sless.errors import RegistryUnavailable
from sless.model.function import FunctionRef
from sless.ports import Images
from tests.fakes.images import FakeImages, digest_of
from tests.fakes.registry import FakeRegistry

F = FunctionRef("team", "thumb")
ABSENT = digest_of("never pushed")


@dataclass(frozen=True)
class Registry:
    """An adapter, and what a builder and a careless person do behind it."""

    images: Images
    push: Callable[[str, str], str]
    """Pushes an image of that content under that tag of `F`; its digest."""
    remove: Callable[[str], None]
    """Deletes the image of that digest, its tags staying."""


def _fake(_: Path) -> Registry:
    images = FakeImages()

    def push(content: str, tag: str) -> str:
        images.push(F, tag=tag, digest=digest_of(content))
        return digest_of(content)

    return Registry(images, push, lambda digest: images.remove(F, digest))


def _bundles(folder: Path) -> Registry:
    images = BundleImages(folder)

    def push(content: str, tag: str) -> str:
        with images.trees.temporary() as temporary:
            (temporary / "main.py").write_text(content)
            images.trees.keep(temporary, f"code-{content}")
        return images.push(F, bundle=Bundle("python3.11", f"code-{content}"), tag=tag)

    def remove(digest: str) -> None:
        bundle = images.find_bundle(digest)
        assert bundle
        remove_tree(images.trees.path(bundle.code))

    return Registry(images, push, remove)


def _http(_: Path) -> Registry:
    fake, place = FakeRegistry(), RegistryPlace("registry")
    client = httpx.AsyncClient(transport=httpx.ASGITransport(fake.app()))
    images = RegistryImages(RegistrySession(client, place, Authority(lambda: None)))
    repository = place.repository(F)

    def push(content: str, tag: str) -> str:
        return fake.push(repository, content, tag)

    return Registry(images, push, lambda digest: fake.remove(repository, digest))


@pytest.fixture(params=[_fake, _bundles, _http], ids=["fake", "bundles", "http"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Registry:
    make: Callable[[Path], Registry] = request.param
    return make(tmp_path)


async def test_finds_what_was_pushed_and_nothing_else(registry: Registry) -> None:
    digest = registry.push("a", "b1-n1")
    assert await registry.images.find(F, "b1-n1") == digest
    assert await registry.images.find(F, "b1") is None
    assert await registry.images.find(FunctionRef("other", "thumb"), "b1-n1") is None


async def test_promotes_once(registry: Registry) -> None:
    first, second = registry.push("a", "b1-n1"), registry.push("b", "b1-n2")
    assert first != second
    assert await registry.images.promote(F, digest=first, tag="b1") == first
    assert await registry.images.promote(F, digest=second, tag="b1") == first
    assert await registry.images.find(F, "b1") == first


async def test_one_of_many_promotions_wins_and_all_are_told(registry: Registry) -> None:
    digests = [registry.push(str(n), f"b1-n{n}") for n in range(8)]
    answers = await asyncio.gather(
        *(registry.images.promote(F, digest=digest, tag="b1") for digest in digests)
    )
    assert len(set(answers)) == 1
    assert answers[0] in digests


async def test_refuses_to_tag_what_is_not_there(registry: Registry) -> None:
    with pytest.raises(RegistryUnavailable):
        await registry.images.promote(F, digest=ABSENT, tag="b1")
    assert await registry.images.find(F, "b1") is None


async def test_a_deleted_image_frees_its_tag(registry: Registry) -> None:
    gone, again = registry.push("a", "b1-n1"), registry.push("b", "b1-n2")
    await registry.images.promote(F, digest=gone, tag="b1")
    registry.remove(gone)
    assert await registry.images.find(F, "b1") is None
    assert await registry.images.promote(F, digest=again, tag="b1") == again


async def test_a_reference_names_function_and_digest(registry: Registry) -> None:
    digest = registry.push("a", "b1-n1")
    reference = registry.images.reference(F, digest)
    assert reference.endswith(f"team/thumb@{digest}")
