"""Images of a registry with a will of its own, and who we say we are to it."""

from dataclasses import dataclass, field

import httpx

from sless.adapters.registry.authority import Authority
from sless.adapters.registry.credentials import Credentials
from sless.adapters.registry.images import RegistryImages
from sless.adapters.registry.place import RegistryPlace
from sless.adapters.registry.session import Patience, RegistrySession
from sless.model.function import FunctionRef
from tests.fakes.registry import PASSWORD, USER, FakeRegistry

F = FunctionRef("team", "thumb")
OURS = Credentials(USER, PASSWORD)


@dataclass
class Rig:
    """A registry, and who we say we are."""

    registry: FakeRegistry = field(default_factory=FakeRegistry)
    credentials: Credentials | None = OURS
    place: RegistryPlace = field(default_factory=lambda: RegistryPlace("registry"))
    patience: Patience = field(default_factory=lambda: Patience(busy=3.0))

    def __post_init__(self) -> None:
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(self.registry.app()))
        session = RegistrySession(
            self.client, self.place, Authority(lambda: self.credentials), self.patience
        )
        self.images = RegistryImages(session)

    def push(self, content: str = "a", tag: str = "b1-n1", **options: str) -> str:
        return self.registry.push(self.place.repository(F), content, tag, **options)
