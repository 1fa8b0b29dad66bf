"""What an API server refuses, as our errors: bodies as Kubernetes 1.36 sent them, shortened."""

from typing import Any

import pytest

from sless.adapters.kubernetes.refusals import translate
from sless.errors import (
    AlreadyExists,
    Forbidden,
    InvalidKey,
    InvalidSetting,
    ManagedElsewhere,
    NamespaceNotFound,
    SlessError,
    StoreUnavailable,
    VersionConflict,
)

POLICY = (
    "functions.sless.io \"hello\" is forbidden: ValidatingAdmissionPolicy '{}' with binding "
    "'sless-s3key' denied request: spec.s3Key must start with functions/team/hello/"
)


def status(
    message: str, *causes: dict[str, str], reason: str = "", **details: object
) -> dict[str, Any]:
    return {
        "kind": "Status",
        "message": message,
        "reason": reason,
        "details": {**details, "causes": list(causes)},
    }


CASES: list[tuple[int, dict[str, Any], type[SlessError], str]] = [
    (
        403,
        status(POLICY.format("sless-s3key"), reason="Forbidden"),
        InvalidKey,
        "spec.s3Key must start with functions/team/hello/",
    ),
    (403, status(POLICY.format("theirs")), InvalidSetting, "spec.s3Key must start with"),
    (
        400,
        status('admission webhook "x.example.org" denied the request: no handlers on Fridays'),
        InvalidSetting,
        "no handlers on Fridays",
    ),
    (
        422,
        status(
            'Function.sless.io "hello" is invalid: …',
            {"message": "Invalid value: [] names must be unique", "field": "spec.env"},
            {"message": "some validation rules were not checked", "field": "<nil>"},
            reason="Invalid",
        ),
        InvalidSetting,
        "spec.env: Invalid value: [] names must be unique; some validation rules were not checked",
    ),
    (
        422,
        status("…", {"message": "should match '^x$'", "field": "spec.s3Key"}, reason="Invalid"),
        InvalidKey,
        "spec.s3Key: should match '^x$'",
    ),
    (
        400,
        status('strict decoding error: unknown field "spec.wurst"', reason="BadRequest"),
        InvalidSetting,
        'strict decoding error: unknown field "spec.wurst"',
    ),
    (
        403,
        status('functions.sless.io is forbidden: User "x" cannot list resource "functions"'),
        StoreUnavailable,
        'The API server refuses us a right: functions.sless.io is forbidden: User "x" cannot list',
    ),
    (403, status('functions "a" is forbidden: exceeded quota: few'), Forbidden, "exceeded quota"),
    (
        403,
        status(
            'functions "a" is forbidden: namespace team is being terminated',
            {"reason": "NamespaceTerminating", "message": "…"},
        ),
        NamespaceNotFound,
        "namespace team is being terminated",
    ),
    (
        404,
        status('namespaces "x" not found', kind="namespaces", name="x"),
        NamespaceNotFound,
        "There is no namespace x",
    ),
    (404, {"message": "404 page not found\n"}, StoreUnavailable, "is k8s/chart installed?"),
    (
        409,
        status("…", reason="AlreadyExists", kind="functions", name="hello"),
        AlreadyExists,
        "functions hello exists already",
    ),
    (
        409,
        status("the object has been modified", reason="Conflict"),
        VersionConflict,
        "the object has been modified: read it again",
    ),
    (
        409,
        status(
            "Apply failed with 1 conflict: …",
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "sless-api" using sless.io/v1alpha1',
                "field": ".spec.handler",
            },
            reason="Conflict",
        ),
        ManagedElsewhere,
        "spec.handler is managed by 'sless-api'",
    ),
    (410, status("too old resource version", reason="Expired"), VersionConflict, "too old"),
    (500, status("etcdserver: request timed out"), StoreUnavailable, "answered 500: etcdserver"),
    (503, {}, StoreUnavailable, "answered 503: HTTP 503"),
    (429, status("slow down"), StoreUnavailable, "answered 429: slow down"),
    (401, status("Unauthorized"), StoreUnavailable, "answered 401"),
]


@pytest.mark.parametrize(("code", "told", "error", "says"), CASES)
def test_a_refusal_is_one_of_our_errors_in_its_own_words(
    code: int, told: dict[str, Any], error: type[SlessError], says: str
) -> None:
    refusal = translate(code, told)
    assert type(refusal) is error
    assert says in refusal.message
