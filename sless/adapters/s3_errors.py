"""S3's errors as ours."""

import contextlib
from collections.abc import Iterator

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
)

from sless.errors import ChecksumMismatch, ObjectMissing, StorageUnavailable

MISSING = frozenset({"NoSuchKey", "404", "NotFound"})
TAKEN = frozenset({"PreconditionFailed", "412"})
RACING = frozenset({"ConditionalRequestConflict", "409"})
_WRONG_BYTES = frozenset({"BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch"})
_DENIED = frozenset(
    {"AccessDenied", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"}
)


@contextlib.contextmanager
def translated(endpoint: str, about: str) -> Iterator[None]:
    """Raises `ObjectMissing`, `ChecksumMismatch` or `StorageUnavailable` instead.

    Args:
        endpoint: URL of the store, for the message.
        about: What the call is about: a key, or the bucket.
    """
    try:
        yield
    except ParamValidationError:
        raise  # a defect of ours
    except ClientError as error:
        raise _translate(error, endpoint, about) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise StorageUnavailable(
            f"There are no credentials for the S3 store at {endpoint}: set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY."
        ) from error
    except BotoCoreError as error:
        raise StorageUnavailable(f"The S3 store at {endpoint} does not answer: {error}") from error


def _translate(
    error: ClientError, endpoint: str, about: str
) -> ObjectMissing | ChecksumMismatch | StorageUnavailable:
    code, said = error_code(error), error.response["Error"].get("Message", "")
    if code in MISSING:
        return ObjectMissing(f"There is no {about} in the store.")
    if code == "NoSuchBucket":
        return StorageUnavailable(f"The S3 store at {endpoint} has no such bucket any more.")
    if code in _WRONG_BYTES:
        return ChecksumMismatch("The bytes that arrived are not those of the announced SHA-256.")
    if code in _DENIED:
        return StorageUnavailable(
            f"The S3 store at {endpoint} refuses our credentials ({code}): check "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    return StorageUnavailable(f"The S3 store at {endpoint} answered {code}: {said}")


def error_code(error: ClientError) -> str:
    """What the store called it; for an answer without a body, the HTTP status code."""
    return str(error.response["Error"].get("Code", ""))
