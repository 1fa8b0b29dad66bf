"""What an installer's output means; the texts are uv's own."""

import pytest

from sless.adapters.bundles.verdict import MESSAGE_MAX, Finished, judge_install
from sless.errors import (
    DependencyInstallFailed,
    DiskFull,
    IndexUnavailable,
    OutOfMemory,
    SlessError,
)

MISSING = """error: No solution found when resolving dependencies
  cause: Because nosuch was not found in the package registry and you require nosuch, we can \
conclude that your requirements are unsatisfiable.
"""
REFUSED = """error: Request failed after 3 retries in 10.5s
  cause: Failed to fetch: http://127.0.0.1:9/simple/six/
  cause: error sending request for url (http://127.0.0.1:9/simple/six/)
  cause: client error (Connect)
  cause: tcp connect error
  cause: Connection refused (os error 111)
"""
GONE = """error: Failed to download and build `sd @ http://127.0.0.1:8765/zz-1.0.tar.gz`
  cause: Failed to fetch: http://127.0.0.1:8765/zz-1.0.tar.gz
  cause: HTTP status client error (404 File not found) for url (http://127.0.0.1:8765/zz)
"""
BUSY = """error: Failed to fetch: `http://127.0.0.1/simple/six/`
  cause: HTTP status server error (503 Service Unavailable) for url (http://127.0.0.1/simple/six/)
"""
COMPILER = """   Building pkg @ file:///tmp/pkg
error: Failed to build `pkg @ file:///tmp/pkg`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)

         [stdout]
         running build_ext

         [stderr]
         m.c:1:10: fatal error: nosuch.h: No such file or directory
             1 | #include <nosuch.h>
         compilation terminated.
         error: Command '['gcc', '-c', 'm.c']' returned non-zero exit status 1.

hint: This error likely indicates that you need to install a library that provides `nosuch.h`
"""
BACKEND_FETCHES = """error: Failed to build `pkg==1.0`
  cause: The build backend returned an error

         [stderr]
         Traceback (most recent call last):
         OSError: Connection refused
"""
FULL = "error: failed to write to file `x`: No space left on device (os error 28)\n"


@pytest.mark.parametrize(
    ("output", "kind", "told"),
    [
        (MISSING, DependencyInstallFailed, "nosuch was not found"),
        (REFUSED, IndexUnavailable, "Connection refused"),
        (GONE, DependencyInstallFailed, "404 File not found"),
        (BUSY, IndexUnavailable, "503 Service Unavailable"),
        (COMPILER, DependencyInstallFailed, "m.c:1:10: fatal error: nosuch.h"),
        # The backend's own troubles with the network are not the index's.
        (BACKEND_FETCHES, DependencyInstallFailed, "OSError: Connection refused"),
        (FULL, DiskFull, "full"),
        ("something else\n\n", DependencyInstallFailed, "something else"),
        ("", DependencyInstallFailed, "without a word"),
    ],
)
def test_tells_reason_and_decisive_line(output: str, kind: type[SlessError], told: str) -> None:
    error = judge_install(Finished(2, output))
    assert type(error) is kind
    assert told in error.message


def test_a_killed_installer_ran_out_of_memory() -> None:
    assert type(judge_install(Finished(-9, MISSING))) is OutOfMemory


def test_a_message_fits_in_a_status() -> None:
    error = judge_install(Finished(1, f"error: {'x' * 10_000}\n"))
    assert len(error.message) <= MESSAGE_MAX
