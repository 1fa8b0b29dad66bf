"""What Temporal UI tells of a run: search attributes, memo, current details."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from sless import attributes
    from sless.model.function import Function
    from sless.model.phase import Phase
    from sless.model.times import rfc3339_millis


def tell_ask(function: Function, *, build: str) -> None:
    """The ask that the run has read."""
    workflow.upsert_search_attributes(
        [
            attributes.NAMESPACE.value_set(function.namespace),
            attributes.FUNCTION.value_set(function.name),
            attributes.BUILD.value_set(build),
            attributes.RUNTIME.value_set(function.spec.runtime),
            attributes.GENERATION.value_set(function.generation),
        ]
    )
    workflow.upsert_memo(
        {
            attributes.MEMO_UID: function.uid,
            attributes.MEMO_GENERATION: function.generation,
            attributes.MEMO_S3_KEY: function.spec.s3_key,
        }
    )


def tell_phase(phase: Phase, *, reason: str = "", message: str = "") -> None:
    """Where the ask stands, with its reason once there is one."""
    workflow.upsert_search_attributes(
        [
            attributes.PHASE.value_set(phase.value),
            attributes.REASON.value_set(reason or phase.value),
        ]
    )
    workflow.upsert_memo({attributes.MEMO_MESSAGE: message})
    workflow.set_current_details(f"**{phase.value}** {message}".strip())


def now() -> str:
    """The workflow's own time, RFC 3339 in UTC to the millisecond."""
    return rfc3339_millis(workflow.now())
