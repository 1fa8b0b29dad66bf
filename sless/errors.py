"""Every error of the product, in one tree; a leaf's name is its reason.

SlessError
├── UserFault                 what was handed over is wrong: never retried                  400
│   ├── BadArchive            ArchiveNotZip, ArchiveTruncated, ArchiveEmpty, ArchiveEncrypted,
│   │                         ArchiveCompressionUnsupported, ArchiveUnsafePath, ArchiveUnsafeLink,
│   │                         ArchiveSpecialFile, ArchiveNameCollision, ArchiveNameTooLong,
│   │                         ArchiveTooManyEntries, ArchiveTooLarge, ArchiveUnreadable
│   ├── BadRequest            InvalidName, InvalidSetting, InvalidKey, RuntimeUnsupported,
│   │                         RuntimeUnavailable, ChecksumMismatch, RequestTooLarge,
│   │                         ContentTypeUnsupported, MethodNotAllowed, RequestStalled
│   ├── BadDependencies       DependencyFileInvalid, DependencyUnsupported,
│   │                         DependencyInstallFailed
│   ├── BadBuild              BuildFailed, BuildTimedOut, OutOfMemory
│   └── BadRevision           HandlerNotFound, HandlerImportFailed, FunctionCrashed,
│                             ReadinessTimedOut
├── Refusal                   the state of things forbids it: another ask is needed
│   ├── Denied                Unauthenticated, Forbidden                                    401, 403
│   ├── NotFound              FunctionNotFound, BuildNotFound, RouteNotFound, ObjectMissing,
│   │                         ImageMissing, NamespaceNotFound                                   404
│   └── Conflict              VersionConflict, AlreadyExists, ManagedElsewhere, CancelTooLate,
│                             UploadMissing, NothingToDo                                        409
├── Transient                 somebody's bad minute: retried with backoff                       503
│                             StorageUnavailable, StoreUnavailable, WorkflowsUnavailable,
│                             RegistryUnavailable, BuildLost, RunnerUnavailable, DiskFull,
│                             GatewayUnavailable, IndexUnavailable, IssuerUnavailable
├── Misconfigured             how the platform is set up forbids it: an operator mends it      500
│                             RegistryDenied, SecretMissing, UserNamespacesUnsupported,
│                             BuildNotStarted, FunctionNotStarted
├── Ended                     the run's purpose is gone; nobody's fault                         409
│                             Superseded, OwnerGone, Cancelled, Terminated
└── InternalError             a defect of ours                                                  500

A reason is the same word in the API, the Function's status, Temporal and the CLI, and never
changes once released. The message is one sentence that names the thing and the cure.
"""

from typing import ClassVar


class SlessError(Exception):
    """The root. Only leaves are raised; a leaf's `reason` is its class name."""

    reason: ClassVar[str] = "SlessError"
    status: ClassVar[int] = 500
    """HTTP status code at the API."""
    retryable: ClassVar[bool] = False
    """Whether the same call may succeed later, with nothing changed by a person."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.reason = cls.__name__

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UserFault(SlessError):
    """What was handed over is wrong; only another upload or other settings help."""

    status = 400


class BadArchive(UserFault):
    """The zip is refused; the message names the entry where there is one."""


class ArchiveNotZip(BadArchive):
    """The body is no zip at all."""


class ArchiveTruncated(BadArchive):
    """The zip ends early, or its records contradict each other."""


class ArchiveEmpty(BadArchive):
    """The zip holds no file."""


class ArchiveEncrypted(BadArchive):
    """An entry is encrypted."""


class ArchiveCompressionUnsupported(BadArchive):
    """An entry is compressed by a method other than stored, deflate, bzip2 or lzma."""


class ArchiveUnsafePath(BadArchive):
    """An entry is absolute, climbs out by `..`, or names a drive."""


class ArchiveUnsafeLink(BadArchive):
    """A symbolic link leaves the tree, or a path runs through a link."""


class ArchiveSpecialFile(BadArchive):
    """An entry is a device, socket or pipe."""


class ArchiveNameCollision(BadArchive):
    """Two entries have one name, or names that differ in case alone."""


class ArchiveNameTooLong(BadArchive):
    """A name is over 255 bytes."""


class ArchiveTooManyEntries(BadArchive):
    """More entries than the limit."""


class ArchiveTooLarge(BadArchive):
    """More bytes, packed or inflated, than the limit."""

    status = 413


class ArchiveUnreadable(BadArchive):
    """A folder to be packed, or a file in it, cannot be read."""


class BadRequest(UserFault):
    """The request itself is wrong."""


class InvalidName(BadRequest):
    """A namespace, function or build name that cannot be one."""


class InvalidSetting(BadRequest):
    """A setting has a value that cannot be."""


class InvalidKey(BadRequest):
    """An s3Key that is none, or one that belongs to another function."""


class RuntimeUnsupported(BadRequest):
    """A runtime this installation does not offer."""


class RuntimeUnavailable(BadRequest):
    """A runtime whose interpreter this machine lacks."""


class ChecksumMismatch(BadRequest):
    """The bytes that arrived are not those that were announced."""


class RequestTooLarge(BadRequest):
    """The body is larger than the limit."""

    status = 413


class ContentTypeUnsupported(BadRequest):
    """A body of a media type, or in a coding, that this route does not take."""

    status = 415


class MethodNotAllowed(BadRequest):
    """The address is there, but not for this method."""

    status = 405


class RequestStalled(BadRequest):
    """A body of which nothing more arrives."""

    status = 408


class BadDependencies(UserFault):
    """The function's dependencies cannot be had."""


class DependencyFileInvalid(BadDependencies):
    """A requirements.txt, package.json or lock that cannot be read."""


class DependencyUnsupported(BadDependencies):
    """A way to declare dependencies that is not supported."""


class DependencyInstallFailed(BadDependencies):
    """The installer said no; the message carries its own line."""


class BadBuild(UserFault):
    """The build ran and failed by what it was given."""


class BuildFailed(BadBuild):
    """The builder said no."""


class BuildTimedOut(BadBuild):
    """The build's deadline passed."""


class OutOfMemory(BadBuild):
    """The build needed more memory than its limit."""


class BadRevision(UserFault):
    """The revision did not come up; the one before it goes on answering."""


class HandlerNotFound(BadRevision):
    """No handler where one was looked for."""


class HandlerImportFailed(BadRevision):
    """The handler's module raised on import; the message is its traceback's last line."""


class FunctionCrashed(BadRevision):
    """The function's process ended by itself."""


class ReadinessTimedOut(BadRevision):
    """The function did not become ready in time."""


class Refusal(SlessError):
    """The state of things forbids it."""

    status = 409


class Denied(Refusal):
    """Who asks may not."""

    status = 403


class Unauthenticated(Denied):
    """No token, or one that does not hold."""

    status = 401

    def __init__(self, message: str, *, fault: str = "malformed") -> None:
        super().__init__(message)
        self.fault = fault
        """A word of `sless.tokens.faults`: refused tokens are counted by it."""


class Forbidden(Denied):
    """A valid identity without this right."""


class NotFound(Refusal):
    """What was named is not there."""

    status = 404


class FunctionNotFound(NotFound):
    """No such function in that namespace."""


class BuildNotFound(NotFound):
    """No such build of that function."""


class RouteNotFound(NotFound):
    """No such address."""


class ImageMissing(NotFound):
    """The registry has lost the image of a revision."""


class NamespaceNotFound(NotFound):
    """The cluster has no such namespace, or is deleting it."""


class ObjectMissing(NotFound):
    """No object under that key in the store."""


class Conflict(Refusal):
    """The state moved on, or belongs to somebody else."""


class VersionConflict(Conflict):
    """The object changed since it was read, or is another one by uid."""


class AlreadyExists(Conflict):
    """The name is taken."""


class ManagedElsewhere(Conflict):
    """The field is applied by another manager, as GitOps does, or the object is somebody else's."""


class CancelTooLate(Conflict):
    """The ask has its outcome already."""


class UploadMissing(Conflict):
    """The Function names a zip that is not there."""


class NothingToDo(Conflict):
    """There is nothing that could be retried, rebuilt or rolled back to."""


class Transient(SlessError):
    """Somebody's bad minute: retried with backoff."""

    status = 503
    retryable = True


class StorageUnavailable(Transient):
    """S3 does not answer."""


class StoreUnavailable(Transient):
    """The store of Functions does not answer."""


class WorkflowsUnavailable(Transient):
    """Temporal does not answer."""


class RegistryUnavailable(Transient):
    """The image registry does not answer."""


class BuildLost(Transient):
    """The build's process or pod vanished."""


class RunnerUnavailable(Transient):
    """What runs functions does not answer."""


class GatewayUnavailable(Transient):
    """Envoy does not answer, or does not take its new routes."""


class IndexUnavailable(Transient):
    """The package index does not answer, which says nothing about the package."""


class IssuerUnavailable(Transient):
    """The issuer of tokens does not answer, or not with keys, and none of it is known yet."""


class DiskFull(Transient):
    """This machine's disk has no room for what arrives."""

    status = 507


class Misconfigured(SlessError):
    """How the platform is set up forbids it; an operator mends it, and the ask is made again."""


class RegistryDenied(Misconfigured):
    """The image registry refuses the platform's credentials."""


class SecretMissing(Misconfigured):
    """A Secret or ConfigMap that the platform's settings name is not there."""


class UserNamespacesUnsupported(Misconfigured):
    """The cluster would run a build without a user namespace of its own."""


class BuildNotStarted(Misconfigured):
    """A build's pod could not start in time; the message carries the cluster's own words."""


class FunctionNotStarted(Misconfigured):
    """A function's pod could not start in time; the message carries the cluster's own words."""


class Ended(SlessError):
    """The run's purpose is gone; nobody's fault."""

    status = 409


class Superseded(Ended):
    """A newer ask wants something else."""


class OwnerGone(Ended):
    """The Function was deleted."""


class Cancelled(Ended):
    """A person cancelled the ask."""


class Terminated(Ended):
    """A person terminated the workflow."""


class InternalError(SlessError):
    """A defect of ours; the log has the traceback."""


def leaves(root: type[SlessError] = SlessError) -> list[type[SlessError]]:
    """Every class below `root` that has no subclass, in definition order."""
    below = root.__subclasses__()
    return [leaf for child in below for leaf in leaves(child)] if below else [root]


def error_for(reason: str, message: str) -> SlessError:
    """The error of that reason; an unknown reason becomes `InternalError`."""
    kinds = {leaf.reason: leaf for leaf in leaves()}
    return kinds.get(reason, InternalError)(message)
