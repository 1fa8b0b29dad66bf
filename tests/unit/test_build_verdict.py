"""Why a build or a push failed; the texts are those of the programs themselves."""

import pytest

from sless.adapters.kubernetes.build_verdict import (
    MESSAGE_MAX,
    judge_base,
    judge_build,
    judge_push,
)
from sless.errors import (
    BuildFailed,
    DependencyInstallFailed,
    DiskFull,
    IndexUnavailable,
    OutOfMemory,
    RegistryDenied,
    RegistryUnavailable,
    SlessError,
)

BUILDAH_STEP = "STEP 4/9: RUN { [ ! -e /sless/build/environment ] || . /x; }  && uv pip install\n"
BUILDAH_END = """subprocess exited with status 1
subprocess exited with status 1
Error: building at STEP "RUN { [ ! -e /x ] || . /x; }  && uv pip install": exit status 1
"""
KANIKO_STEP = 'time="2026-11-30T16:00:00Z" level=info msg="Running: [/bin/sh -c uv pip install]"\n'
KANIKO_END = (
    "error building image: error building stage: failed to execute command: "
    "waiting for process to exit: exit status 1\n"
)
UV = """Using Python 3.11.7 environment at: /usr/local
error: No solution found when resolving dependencies
  cause: Because nosuch was not found in the package registry and you require nosuch>=99, we can \
conclude that your requirements are unsatisfiable.
"""
PIP = """ERROR: Could not find a version that satisfies the requirement uv (from versions: none)
ERROR: No matching distribution found for uv
"""
PIP_AWAY = (
    "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by "
    f"'NewConnectionError': /simple/uv/\n{PIP}"
)
NPM_LOCK = """npm error code EUSAGE
npm error
npm error `npm ci` can only install packages when your package.json and package-lock.json or \
npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.
npm error
npm error Missing: left-pad@1.3.0 from lock file
npm error
npm error Clean install a project
"""
NPM_TARGET = """npm error code ETARGET
npm error notarget No matching version found for left-pad@99.0.0.
npm error notarget In most cases you or one of your dependencies are requesting a package version
npm error A complete log of this run can be found in: /sless/npm/_logs/2026-11-30T16.log
"""
NPM_OLD = (
    "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://r/nosuch - Not found\nnpm ERR! 404\n"
)
NPM_AWAY = """npm error code ECONNREFUSED
npm error syscall connect
npm error errno ECONNREFUSED
npm error FetchError: request to http://127.0.0.1:9/left-pad failed, reason: connect ECONNREFUSED
"""
NPM_SCRIPT = """npm error code 1
npm error path /app/node_modules/x
npm error command failed
npm error command sh -c node install.js
npm error Error: this package is not for you
"""
NATIVE = """error: Failed to build `pkg @ file:///tmp/pkg`
  cause: The build backend returned an error

         [stderr]
         m.c:1:10: fatal error: nosuch.h: No such file or directory
"""


@pytest.mark.parametrize(
    ("start", "end"),
    [(BUILDAH_STEP, BUILDAH_END), (KANIKO_STEP, KANIKO_END)],
    ids=["buildah", "kaniko"],
)
@pytest.mark.parametrize(
    ("output", "kind", "said"),
    [
        (UV, DependencyInstallFailed, "Because nosuch was not found"),
        (NATIVE, DependencyInstallFailed, "m.c:1:10: fatal error: nosuch.h"),
        (PIP, DependencyInstallFailed, "Could not find a version that satisfies"),
        (PIP_AWAY, IndexUnavailable, "The package index does not answer"),
        (NPM_LOCK, DependencyInstallFailed, "Missing: left-pad@1.3.0 from lock file."),
        (NPM_TARGET, DependencyInstallFailed, "notarget No matching version found for left-pad@99"),
        (NPM_OLD, DependencyInstallFailed, "404 Not Found - GET https://r/nosuch"),
        (NPM_AWAY, IndexUnavailable, "FetchError: request to http://127.0.0.1:9/left-pad"),
        (NPM_SCRIPT, DependencyInstallFailed, "Error: this package is not for you"),
        ("\x1b[31merror: it is red\x1b[0m\n", DependencyInstallFailed, "it is red"),
        ("OSError: [Errno 28] No space left on device\n", DiskFull, "node that built has no room"),
        ("subprocess exited on killed\n", OutOfMemory, "its 2Gi of memory"),
    ],
)
def test_a_failed_install(
    start: str, end: str, output: str, kind: type[SlessError], said: str
) -> None:
    error = judge_build(start + output + end, memory_limit="2Gi")
    assert type(error) is kind, error
    assert said in error.message
    assert len(error.message) <= MESSAGE_MAX


@pytest.mark.parametrize(
    ("log", "kind", "said"),
    [
        (
            KANIKO_END.replace("status 1", "status 137"),
            OutOfMemory,
            "SLESS_LIMITS__BUILD_MEMORY_BYTES",
        ),
        (KANIKO_END.replace("exit status 1", "signal: killed"), OutOfMemory, "its 2Gi"),
        (
            "Error: creating build container: dial tcp: connect: connection refused\n",
            RegistryUnavailable,
            "base image's registry does not answer",
        ),
        (
            "error building image: GET https://r/v2/x: UNAUTHORIZED: authentication required;\n",
            RegistryDenied,
            "refuses the builder",
        ),
        (
            "error building image: GET https://r/v2/x/manifests/1: TOOMANYREQUESTS: slow down\n",
            RegistryUnavailable,
            "slow down",
        ),
        (
            "error building image: GET https://r/v2/x/manifests/1: unexpected status code 524 \n",
            RegistryUnavailable,
            "524",
        ),
        (
            "Error: creating build container: x509: certificate signed by unknown authority\n",
            RegistryUnavailable,
            "unknown authority",
        ),
        (
            "error building image: GET https://r/v2/401/x/manifests/1: MANIFEST_UNKNOWN: no such\n",
            BuildFailed,
            "MANIFEST_UNKNOWN",
        ),
        (
            "error building image: GET https://r/v2/x/manifests/1: MANIFEST_UNKNOWN: no such\n",
            BuildFailed,
            "MANIFEST_UNKNOWN",
        ),
        (
            f"error setting capabilities for process: operation not permitted\n{BUILDAH_END}",
            BuildFailed,
            "cannot run anything: setting capabilities",
        ),
        ("something\nelse\n", BuildFailed, "else"),
        ("", BuildFailed, "without a word"),
    ],
)
def test_a_failed_build_that_installed_nothing(log: str, kind: type[SlessError], said: str) -> None:
    error = judge_build(log, memory_limit="2Gi")
    assert type(error) is kind, error
    assert said in error.message


def test_what_a_package_prints_is_not_the_builders_word() -> None:
    """A hostile package cannot have its build tried again for ever by pretending."""
    faked = "Error: creating build container: connection refused\n"
    error = judge_build(BUILDAH_STEP + faked + UV + BUILDAH_END, memory_limit="2Gi")
    assert type(error) is DependencyInstallFailed


FATAL = 'time="2026-11-30T16:36:04Z" level=fatal msg="{}"\n'


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (
            "writing blob: initiating layer upload: unauthorized: authentication required",
            RegistryDenied,
        ),
        ("checking blob: requested access to the resource is denied", RegistryDenied),
        (
            'pinging r: Get \\"https://r/v2/\\": dial tcp: lookup r: no such host',
            RegistryUnavailable,
        ),
        ("writing manifest: uploading: received unexpected HTTP status: 503", RegistryUnavailable),
        ("Error writing blob: toomanyrequests: slow down", RegistryUnavailable),
        ("initializing source oci:/out/img:: unexpected EOF", BuildFailed),
        ("reading blob sha256:32: open /out/img/blobs/sha256/32: permission denied", BuildFailed),
        ("initializing source oci:/out/img:: open /out/img/index.json: no such file", BuildFailed),
    ],
)
def test_a_failed_push(said: str, kind: type[SlessError]) -> None:
    warned = 'time="2026" level=warning msg="Failed, retrying in 1s ... (1/5). Error: x"\n'
    error = judge_push(warned + FATAL.format(said))
    assert type(error) is kind
    assert said.replace('\\"', '"') in error.message


PING = "trying to reuse blob sha256:9d at destination: pinging container registry r: "
START = "writing blob: initiating layer upload to /v2/x/blobs/uploads/ in r: "


@pytest.mark.parametrize(
    "said",
    [
        f"{PING}invalid status code from registry 404 (Not Found)",
        f'{PING}Get \\"https://r/v2/\\": x509: certificate has expired or is not yet valid',
        f"{START}StatusCode: 413, too large",
        f"{START}received unexpected HTTP status: 507 Insufficient Storage",
        "writing blob: uploading layer to http://r/up: digest invalid",
        "writing blob: determining upload URL: http: no Location header in response",
        "Uploading manifest failed, attempted the following formats: x(tag invalid)",
    ],
)
def test_a_push_that_a_registry_does_not_take_is_nobodys_upload(said: str) -> None:
    assert type(judge_push(FATAL.format(said))) is RegistryUnavailable


def test_a_registry_whose_room_is_used_up_denies_it() -> None:
    said = f"{START}denied: quota exceeded of project"
    assert type(judge_push(FATAL.format(said))) is RegistryDenied


@pytest.mark.parametrize("name", ["api-403", "unauthorized"])
def test_a_functions_name_is_no_registrys_word(name: str) -> None:
    place = f"http://r/v2/team/{name}/blobs/uploads/1"
    said = f"writing blob: uploading layer to {place}: received unexpected HTTP status: 500"
    assert type(judge_push(FATAL.format(said))) is RegistryUnavailable


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("reading manifest 1 in r/base: unauthorized: authentication required", RegistryDenied),
        ("pinging container registry r: received unexpected HTTP status: 503", RegistryUnavailable),
        ("pinging container registry r: net/http: TLS handshake timeout", RegistryUnavailable),
        ('Get \\"https://r/v2/\\": context deadline exceeded', RegistryUnavailable),
        ('Get \\"https://r/v2/\\": dial tcp 10.0.0.1:443: i/o timeout', RegistryUnavailable),
        ("reading manifest 1 in r/base: manifest unknown", BuildFailed),
    ],
)
def test_a_base_image_that_cannot_be_fetched(said: str, kind: type[SlessError]) -> None:
    error = judge_base(FATAL.format(said))
    assert type(error) is kind
    assert error.message.startswith("The base image")
