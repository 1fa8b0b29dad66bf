"""Looks images up and promotes them; asks whether a build is still wanted."""

from dataclasses import dataclass

from temporalio import activity

from activities.messages import FindImage, FoundImage, PromoteImage, StillWanted
from sless.errors import OwnerGone, Superseded
from sless.ports import Functions, Images


@dataclass(frozen=True, slots=True)
class Imaging:
    """Short calls to the registry and the store."""

    functions: Functions
    images: Images

    @activity.defn
    async def find_image(self, order: FindImage) -> FoundImage:
        """The build's image, if the registry has it."""
        digest = await self.images.find(order.function, order.build)
        return FoundImage(
            self.images.reference(order.function, digest) if digest is not None else None
        )

    @activity.defn
    async def promote_image(self, order: PromoteImage) -> FoundImage:
        """What the build's tag answers from now on: the first manifest it was given."""
        digest = await self.images.promote(order.function, digest=order.digest, tag=order.build)
        return FoundImage(self.images.reference(order.function, digest))

    @activity.defn
    async def check_wanted(self, order: StillWanted) -> None:
        """Raises `OwnerGone` or `Superseded` when nobody asks for this build any more."""
        stored = await self.functions.find(order.function.namespace, order.function.name)
        if stored is None or stored.function.uid != order.uid:
            raise OwnerGone("The Function was deleted.")
        if stored.function.spec.s3_key != order.s3_key:
            raise Superseded(f"Generation {stored.function.generation} asks for another upload.")
