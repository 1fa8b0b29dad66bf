"""When the steps of a run were, out of its history in Temporal: seconds since the epoch."""

from dataclasses import dataclass, field

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.converter import default as default_converter

from sless import attributes


@dataclass(frozen=True, slots=True)
class Activity:
    """One execution, from the workflow's order to the answer."""

    name: str
    ordered: float
    begun: float = 0.0
    """When the attempt that ended it was taken by a worker."""
    ended: float = 0.0


@dataclass(slots=True)
class RunSteps:
    """One run's."""

    started: float = 0.0
    activities: dict[int, Activity] = field(default_factory=dict)
    """By the id of the event that ordered each, in their order."""
    turns: dict[str, float] = field(default_factory=dict)
    """When each phase was first told to Temporal."""

    def first(self, name: str) -> Activity:
        """The first one of that name."""
        return next(each for each in self.activities.values() if each.name == name)


async def read_steps(client: Client, workflow_id: str) -> RunSteps:
    """Of the newest run of that id."""
    steps = RunSteps()
    async for event in client.get_workflow_handle(workflow_id).fetch_history_events():
        _note(steps, event)
    return steps


def _note(steps: RunSteps, event: HistoryEvent) -> None:
    at = event.event_time.ToMicroseconds() / 1e6
    match event.event_type:
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            steps.started = at
        case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            name = event.activity_task_scheduled_event_attributes.activity_type.name
            steps.activities[event.event_id] = Activity(name, ordered=at)
        case EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            started = event.activity_task_started_event_attributes
            known = steps.activities[started.scheduled_event_id]
            steps.activities[started.scheduled_event_id] = Activity(known.name, known.ordered, at)
        case EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            ended = event.activity_task_completed_event_attributes.scheduled_event_id
            known = steps.activities[ended]
            steps.activities[ended] = Activity(known.name, known.ordered, known.begun, at)
        case EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
            told = event.upsert_workflow_search_attributes_event_attributes.search_attributes
            payload = told.indexed_fields.get(attributes.PHASE.name)
            if payload is not None:
                phase = default_converter().payload_converter.from_payload(payload, str)
                steps.turns.setdefault(phase, at)
