"""Takes out of values what must not enter a workflow's history: what people put into `env`.

A variable's value is replaced by a digest of it, alike in Functions and in revisions, so that the
hashes of veiled revisions are equal exactly when those of the real ones are.
"""

import hashlib
from dataclasses import replace

from sless.model.deployment import Deployment, Revision
from sless.model.function import CANCEL_ANNOTATION, EnvVar, Function


def veiled_function(function: Function) -> Function:
    """Without the values of variables, and of annotations with the cancel alone."""
    annotations = {
        name: value for name, value in function.annotations.items() if name == CANCEL_ANNOTATION
    }
    spec = replace(function.spec, env=_veiled(function.spec.env))
    return replace(function, spec=spec, annotations=annotations)


def veiled_deployment(deployment: Deployment) -> Deployment:
    """Without the values of variables."""
    good = deployment.good
    return replace(
        deployment,
        revision=_veiled_revision(deployment.revision),
        good=_veiled_revision(good) if good is not None else None,
    )


def _veiled_revision(revision: Revision) -> Revision:
    return replace(revision, env=_veiled(revision.env))


def _veiled(env: tuple[EnvVar, ...]) -> tuple[EnvVar, ...]:
    return tuple(
        EnvVar(variable.name, hashlib.sha256(variable.value.encode()).hexdigest()[:16])
        for variable in env
    )
