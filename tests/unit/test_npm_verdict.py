"""What npm's output means; the texts are npm's own."""

import pytest

from sless.adapters.bundles.npm_verdict import judge_npm
from sless.adapters.bundles.verdict import MESSAGE_MAX, Finished
from sless.errors import (
    DependencyInstallFailed,
    DiskFull,
    IndexUnavailable,
    OutOfMemory,
    SlessError,
)

STALE = """npm error code EUSAGE
npm error
npm error `npm ci` can only install packages when your package.json and package-lock.json are in \
sync. Please update your lock file with `npm install` before continuing.
npm error
npm error Invalid: lock file's marked@15.0.12 does not satisfy marked@14.1.4
npm error
npm error Clean install a project
npm error
npm error Usage:
npm error npm ci
npm error [--install-strategy <hoisted|nested|shallow|linked>]
"""
ABSENT = """npm error code E404
npm error 404 Not Found - GET https://registry.example/nosuch
npm error 404
npm error 404  The requested resource 'nosuch@1' could not be found.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /x.log
"""
OLD_NPM = """npm ERR! code ETARGET
npm ERR! notarget No matching version found for marked@99.
npm ERR! notarget In most cases you or one of your dependencies are requesting a version
"""
REFUSED = """npm error code ECONNREFUSED
npm error syscall connect
npm error errno ECONNREFUSED
npm error FetchError: request to http://127.0.0.1:9/marked failed, reason: connect ECONNREFUSED
npm error     at ClientRequest.<anonymous> (/usr/lib/node_modules/npm/index.js:130:14)
"""
BUSY = """npm error code E503
npm error 503 Service Unavailable - GET https://registry.example/marked
"""
SCRIPT = """npm error code 1
npm error path /job/node_modules/@scope/fast
npm error command failed
npm error command sh -c node-gyp rebuild
npm error gyp info it worked if it ends with ok
npm error npm error code E503
npm error gyp ERR! stack Error: not found: make
npm error gyp ERR! stack     at getNotFoundError (/x.js:10:17)
npm error gyp ERR! not ok
npm error A complete log of this run can be found in: /x.log
"""
COMPILER = SCRIPT.replace(
    "gyp info it worked", "../src/fast.cc:3:1: error: unknown type name 'x'\n#"
)


@pytest.mark.parametrize(
    ("output", "error", "message"),
    [
        (
            STALE,
            DependencyInstallFailed,
            (
                "`npm ci` can only install packages when your package.json and package-lock.json "
                "are in sync. Please update your lock file with `npm install` before continuing. "
                "Invalid: lock file's marked@15.0.12 does not satisfy marked@14.1.4"
            ),
        ),
        (
            ABSENT,
            DependencyInstallFailed,
            (
                "Not Found - GET https://registry.example/nosuch; "
                "The requested resource 'nosuch@1' could not be found."
            ),
        ),
        (OLD_NPM, DependencyInstallFailed, "No matching version found for marked@99."),
        (
            REFUSED,
            IndexUnavailable,
            (
                "The package registry does not answer: FetchError: request to "
                "http://127.0.0.1:9/marked failed, reason: connect ECONNREFUSED"
            ),
        ),
        (
            BUSY,
            IndexUnavailable,
            (
                "The package registry does not answer: 503 Service Unavailable - GET "
                "https://registry.example/marked"
            ),
        ),
        (
            SCRIPT,
            DependencyInstallFailed,
            "@scope/fast: sh -c node-gyp rebuild failed: Error: not found: make",
        ),
        (
            COMPILER,
            DependencyInstallFailed,
            (
                "@scope/fast: sh -c node-gyp rebuild failed: ../src/fast.cc:3:1: error: unknown "
                "type name 'x'"
            ),
        ),
        ("npm error code ENOSPC\nnpm error x", DiskFull, "The disk of the home is full; "),
        ("boom\n", DependencyInstallFailed, "boom"),
        ("", DependencyInstallFailed, "npm failed without a word."),
    ],
)
def test_npms_words(output: str, error: type[SlessError], message: str) -> None:
    judged = judge_npm(Finished(1, output))
    assert type(judged) is error
    assert judged.message.startswith(message)
    assert "complete log" not in judged.message


def test_killed_means_memory() -> None:
    assert isinstance(judge_npm(Finished(-9, STALE)), OutOfMemory)


def test_long_words_are_cut() -> None:
    judged = judge_npm(Finished(1, f"npm error code E1\nnpm error {'x' * 5000}"))
    assert len(judged.message) == MESSAGE_MAX
