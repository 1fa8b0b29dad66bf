"""What Temporal knows of a run besides its history: search attributes and memo fields."""

from temporalio.common import SearchAttributeKey

NAMESPACE = SearchAttributeKey.for_keyword("SlessNamespace")
FUNCTION = SearchAttributeKey.for_keyword("SlessFunction")
BUILD = SearchAttributeKey.for_keyword("SlessBuild")
PHASE = SearchAttributeKey.for_keyword("SlessPhase")
REASON = SearchAttributeKey.for_keyword("SlessReason")
RUNTIME = SearchAttributeKey.for_keyword("SlessRuntime")
GENERATION = SearchAttributeKey.for_int("SlessGeneration")

REGISTERED = (
    (NAMESPACE.name, "Keyword"),
    (FUNCTION.name, "Keyword"),
    (BUILD.name, "Keyword"),
    (PHASE.name, "Keyword"),
    (REASON.name, "Keyword"),
    (RUNTIME.name, "Keyword"),
    (GENERATION.name, "Int"),
)
"""Name and type of each: a server that lacks one refuses every start."""

MEMO_UID = "uid"
MEMO_GENERATION = "generation"
MEMO_MESSAGE = "message"
MEMO_ATTEMPTS = "attempts"
MEMO_S3_KEY = "s3Key"

TASK_QUEUE = "sless"
FUNCTION_WORKFLOW = "FunctionWorkflow"
BUILD_WORKFLOW = "BuildWorkflow"
LOOK_SIGNAL = "look"
