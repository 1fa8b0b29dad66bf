"""S3's credentials of one data folder, and the token that the CLI carries."""

import json
import secrets
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path

from sless.errors import InvalidSetting
from sless.files import write_atomically
from sless.local.layout import Layout
from sless.tokens import EVERY_NAMESPACE, ensure_signing_key

_TOKEN_TTL = timedelta(days=365)
"""A home that stays up for longer is started again before: each start signs a new one."""


@dataclass(frozen=True, slots=True)
class S3Credentials:
    """What this home's S3 knows its parts by."""

    access_key_id: str
    secret_access_key: str = field(repr=False)


def ensure_s3_credentials(path: Path) -> S3Credentials:
    """Those in the file; made first, readable by its owner alone. Raises `InvalidSetting`."""
    try:
        return S3Credentials(**json.loads(path.read_bytes()))
    except FileNotFoundError:
        made = S3Credentials(f"sless{secrets.token_hex(8)}", secrets.token_urlsafe(32))
        write_atomically(path, json.dumps(asdict(made)).encode())
        return made
    except (ValueError, TypeError) as error:
        raise InvalidSetting(
            f"{path} holds no S3 credentials; delete it, and the next start makes new ones."
        ) from error


def write_token(layout: Layout) -> None:
    """Signs a token for every namespace, for whoever may read the data folder."""
    token = ensure_signing_key(layout.keys).sign(
        sub="home", namespaces=[EVERY_NAMESPACE], ttl=_TOKEN_TTL
    )
    write_atomically(layout.token, token.encode())
