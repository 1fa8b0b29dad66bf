"""The gateway's part of the settings, as the gateway takes it."""

from sless.gateway.settings import GatewaySettings as EnvoySettings
from sless.settings import Settings
from sless.tokens import ISSUER


def envoy_settings(settings: Settings) -> EnvoySettings:
    """With the issuers whose tokens no function is to see: a home's own key, and those told of."""
    gateway = settings.gateway
    return EnvoySettings(
        host=gateway.host,
        port=gateway.port,
        concurrency=gateway.concurrency,
        stream_idle=gateway.stream_idle_seconds,
        leave=gateway.leave_seconds,
        drain_timeout=gateway.drain_seconds,
        trusted_hops=gateway.trusted_hops,
        token_issuers=(ISSUER, *(issuer.url for issuer in settings.tokens.issuers)),
        pass_token=gateway.pass_token,
    )
