"""The outcome of an ask, put together from what the run has seen."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from sless.decide.next_step import Record, Seen
    from sless.model.function import Function
    from sless.model.outcome import Outcome
    from sless.naming import build_id
    from workflows.child import ChildBuild
    from workflows.story import now


def outcome_of(
    function: Function, *, verdict: Record, seen: Seen, child: ChildBuild | None
) -> Outcome:
    """What is written for the ask that was read."""
    info = workflow.info()
    build = build_id(function.spec.s3_key)
    report = child.report if child is not None and child.report.build == build else None
    deployment = seen.deployment
    serves = deployment is not None and deployment.ask == function.ask
    return Outcome(
        namespace=function.namespace,
        name=function.name,
        ask=function.ask,
        phase=verdict.phase,
        reason=verdict.reason,
        message=verdict.message,
        s3_key=function.spec.s3_key,
        build=build,
        runtime=function.spec.runtime,
        image=seen.image or "",
        revision=seen.revision if serves else "",
        log_prefix=report.log_prefix if report is not None else "",
        workflow_id=info.workflow_id,
        run_id=info.run_id,
        build_run_id=child.run_id if child is not None and report is not None else "",
        attempts=report.attempts if report is not None else 0,
        steps=report.steps if report is not None else (),
        ended_at=now(),
    )
