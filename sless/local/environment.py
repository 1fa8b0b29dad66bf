"""What each part of the home is told: everything, and by its environment alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from sless.local.addresses import Addresses
from sless.local.credentials import S3Credentials
from sless.local.home_ports import HomePorts
from sless.local.layout import Layout

_FOREIGN = ("AWS_", "TEMPORAL_")
"""The user's own clouds are none of this home's business."""
_FOR_THE_CLI = frozenset({"SLESS_TOKEN", "SLESS_SERVER"})
_TEMPORAL_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeFacts:
    """What a start of the home has settled."""

    layout: Layout
    host: str
    ports: HomePorts
    addresses: Addresses
    credentials: S3Credentials


def plain_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's environment, for a part that is told nothing."""
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith(_FOREIGN) and name not in _FOR_THE_CLI
    }


def part_environment(environ: Mapping[str, str], facts: HomeFacts, *, part: str) -> dict[str, str]:
    """Likewise for a part of ours: where everything is, but no credential."""
    ports, addresses = facts.ports, facts.addresses
    return plain_environment(environ) | {
        "PYTHONUNBUFFERED": "1",
        "SLESS_HOME": "embedded",
        "SLESS_DATA": str(facts.layout.root),
        "SLESS_READY_FILE": str(facts.layout.ready_file(part)),
        "SLESS_STORAGE__ENDPOINT": addresses.s3,
        "SLESS_API__HOST": facts.host,
        "SLESS_API__PORT": str(ports.api),
        "SLESS_API__URL": addresses.api,
        "SLESS_GATEWAY__HOST": facts.host,
        "SLESS_GATEWAY__PORT": str(ports.gateway),
        "SLESS_GATEWAY__URL": addresses.gateway,
        "SLESS_TEMPORAL__UI_URL": addresses.temporal_ui,
        "TEMPORAL_ADDRESS": addresses.temporal,
        "TEMPORAL_NAMESPACE": _TEMPORAL_NAMESPACE,
        "TEMPORAL_CONFIG_FILE": "/dev/null",  # else the user's profile, with its TLS and API key
    }


def storing_environment(
    environ: Mapping[str, str], facts: HomeFacts, *, part: str
) -> dict[str, str]:
    """Likewise, with S3's credentials, and nothing of the user's own AWS profile."""
    return part_environment(environ, facts, part=part) | {
        "AWS_ACCESS_KEY_ID": facts.credentials.access_key_id,
        "AWS_SECRET_ACCESS_KEY": facts.credentials.secret_access_key,
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
