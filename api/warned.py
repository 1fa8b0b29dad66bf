"""What the home warns of about a Function: an answer does without it rather than wait or fail."""

import anyio
import structlog

from api.models import WarningBody
from api.services import Services
from sless.errors import SlessError
from sless.naming import build_id
from sless.ports.functions import StoredFunction

log = structlog.get_logger()


async def find_warnings(services: Services, stored: StoredFunction) -> list[WarningBody] | None:
    """The warnings since the Function was made; none when the home cannot tell just now."""
    function = stored.function
    try:
        with anyio.fail_after(services.options.warning_seconds):
            found = await services.ports.warnings.find(
                function.ref, build=build_id(function.spec.s3_key)
            )
    except (SlessError, TimeoutError) as error:
        detail = str(error) or "they took too long"
        log.warning("an answer lacks its warnings", function=str(function.ref), detail=detail)
        return None
    # They come by the function's name, which another may have had before.
    made = str(stored.manifest["metadata"].get("creationTimestamp", ""))
    return [
        WarningBody.model_validate(warning, from_attributes=True)
        for warning in found
        if warning.last_seen >= made
    ]
