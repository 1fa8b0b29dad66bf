"""Names and identifiers: pure functions from names to names, and back.

Kubernetes' own rules bind here too, so that a function moves between homes unchanged.
"""

import hashlib
import re
from dataclasses import dataclass

from sless.errors import InvalidKey, InvalidName

NAME_MAX = 40
"""Characters in a function's name: leaves room in a Job's name for build id and nonce."""
NAMESPACE_MAX = 63
"""Characters in a namespace: Kubernetes' limit."""
RESOURCE_MAX = 63
"""Characters in a Service's, Deployment's or Job's name: Kubernetes' limit for labels."""

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_RUNTIME = re.compile(r"[a-z]+[0-9]+(\.[0-9]+)?", re.ASCII)
_BUILD_ID = re.compile(r"[0-9a-f]{12}", re.ASCII)
_KEY = re.compile(
    r"functions/(?P<namespace>[^/]+)/(?P<name>[^/]+)/"
    r"(?P<sha256>[0-9a-f]{64})-(?P<runtime>[a-z]+[0-9]+(\.[0-9]+)?)(-r(?P<rebuild>[1-9][0-9]{0,8}))?\.zip",
    re.ASCII,
)


def check_name(name: str) -> str:
    """A function's name as it came; raises `InvalidName`."""
    return _check_label(name, what="function name", limit=NAME_MAX)


def check_namespace(namespace: str) -> str:
    """A namespace as it came; raises `InvalidName`."""
    return _check_label(namespace, what="namespace", limit=NAMESPACE_MAX)


def check_build_id(build_id: str) -> str:
    """A build id as it came; raises `InvalidName`."""
    if not _BUILD_ID.fullmatch(build_id):
        raise InvalidName(f"{build_id[:80]!r} is no build id: those are 12 hexadecimal digits.")
    return build_id


def is_runtime_name(runtime: str) -> bool:
    """Whether it has the form of a versioned runtime, such as `python3.11` or `node20`."""
    return len(runtime) <= NAME_MAX and _RUNTIME.fullmatch(runtime) is not None


def _check_label(text: str, *, what: str, limit: int) -> str:
    if not _LABEL.fullmatch(text) or len(text) > limit:
        raise InvalidName(
            f"{text[:80]!r} cannot be a {what}: use 1 to {limit} lower-case letters, digits and "
            "hyphens, with a letter or digit at both ends."
        )
    return text


@dataclass(frozen=True, slots=True)
class S3Key:
    """Where a zip lies: everything the user chooses that shapes the image is in it."""

    namespace: str
    name: str
    sha256: str
    """Of the zip, 64 hexadecimal digits."""
    runtime: str
    rebuild: int = 0
    """0 for the upload itself; n for its nth copy, made to build it again."""

    def __str__(self) -> str:
        again = f"-r{self.rebuild}" if self.rebuild else ""
        return f"{key_prefix(self.namespace, self.name)}{self.sha256}-{self.runtime}{again}.zip"


def key_prefix(namespace: str, name: str) -> str:
    """What every s3Key of a function starts with, the last slash included."""
    return f"functions/{namespace}/{name}/"


def parse_s3_key(text: str) -> S3Key:
    """The parts of an s3Key; raises `InvalidKey`."""
    match = _KEY.fullmatch(text)
    if match is None:
        raise InvalidKey(
            f"{text[:200]!r} is no s3Key: those have the form "
            "functions/<namespace>/<name>/<sha256>-<runtime>[-r<n>].zip."
        )
    key = S3Key(
        namespace=match["namespace"],
        name=match["name"],
        sha256=match["sha256"],
        runtime=match["runtime"],
        rebuild=int(match["rebuild"] or 0),
    )
    try:
        check_namespace(key.namespace)
        check_name(key.name)
    except InvalidName as error:
        raise InvalidKey(f"{text[:200]!r} is no s3Key: {error.message}") from error
    return key


def parse_own_key(text: str, *, namespace: str, name: str) -> S3Key:
    """An s3Key that must be that function's own; raises `InvalidKey`."""
    key = parse_s3_key(text)
    if (key.namespace, key.name) != (namespace, name):
        raise InvalidKey(f"spec.s3Key must start with {key_prefix(namespace, name)}")
    return key


def build_id(s3_key: str) -> str:
    """The build that makes this s3Key's image: 12 hexadecimal digits."""
    return hashlib.sha256(s3_key.encode()).hexdigest()[:12]


def build_workflow_id(namespace: str, name: str, build: str) -> str:
    """The Temporal workflow id of a build."""
    return f"build/{namespace}/{name}/{build}"


def function_workflow_id(namespace: str, name: str) -> str:
    """The Temporal workflow id that answers a function's asks."""
    return f"function/{namespace}/{name}"


def image_repository(prefix: str, namespace: str, name: str) -> str:
    """An image's repository below a registry's prefix."""
    return f"{prefix}/{namespace}/{name}"


def flat_image_repository(owner: str, namespace: str, name: str) -> str:
    """Likewise in a registry with flat names.

    `_` cannot occur in either name, so no two functions share one.
    """
    return f"{owner}/sless-{namespace}_{name}"


def attempt_tag(build: str, nonce: str) -> str:
    """The tag an attempt pushes to, so that a late push overwrites nothing."""
    return f"{build}-{nonce}"


def job_name(name: str, build: str, nonce: str) -> str:
    """An attempt's Job: never used twice, at most 63 characters."""
    tail = f"-{build}-{nonce}"
    head = f"build-{name}"[: RESOURCE_MAX - len(tail)].rstrip("-")
    return head + tail


def resource_name(name: str) -> str:
    """A function's Service and Deployment: `fn-<name>`, cut with a hash when too long."""
    whole = f"fn-{name}"
    if len(whole) <= RESOURCE_MAX:
        return whole
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{whole[: RESOURCE_MAX - 9].rstrip('-')}-{mark}"


def context_key(sha256: str) -> str:
    """Where a build context lies in S3, by its content."""
    return f"contexts/{sha256}.tar.gz"


def outcome_prefix(namespace: str, name: str, uid: str) -> str:
    """What the outcomes of a Function start with, the last slash included."""
    return f"outcomes/{namespace}/{name}/{uid}/"


def outcome_key(namespace: str, name: str, uid: str, generation: int) -> str:
    """Where an ask's outcome lies in S3."""
    return f"{outcome_prefix(namespace, name, uid)}{generation}.json"


def repair_key(namespace: str, name: str, uid: str, generation: int) -> str:
    """Where it is noted that an answered ask's vanished image could not be built again."""
    return f"{outcome_prefix(namespace, name, uid)}{generation}.repair.json"


def log_prefix(namespace: str, name: str, build: str) -> str:
    """What a build's log chunks start with, the last slash included."""
    return f"logs/{namespace}/{name}/{build}/"


def log_chunk_key(prefix: str, *, nonce: str, container: str, start: int) -> str:
    """A chunk of log by the offset in bytes of its first; zero-padded so that S3 sorts it."""
    return f"{prefix}{nonce}/{container}/{start:012d}"
