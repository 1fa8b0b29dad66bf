"""Reads why a build or a push failed from what its container wrote: pure.

The Dockerfile is ours and has one kind of `RUN`: an install. Where a process failed, it was one.
"""

import re

from sless.adapters.bundles.verdict import Finished, judge_install
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

MESSAGE_MAX = 600
"""Characters: a status shows it in a table."""

_LEVEL = r'(?:time="[^"]*" )?level=\w+ msg=|(?:INFO|WARN|ERRO|DEBU|FATA)(?:\[\d+\])? '
_BUILDERS_OWN = re.compile(
    rf"^(?:{_LEVEL}|STEP \d+/\d+: |COMMIT |Trying to pull |Getting image source"
    r"|Copying (?:blob|config) |Writing manifest|Storing signatures|subprocess exited )"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LAST_WORD = re.compile(
    r"^(?:Error: .*|error building .*"
    r'|(?:time="[^"]*" )?level=(?:fatal|error) msg=.*|(?:FATA|ERRO)(?:\[\d+\])? .*)$',
    re.MULTILINE,
)
_MESSAGE = re.compile(r'msg="(?P<text>(?:[^"\\]|\\.)*)"')
_PROCESS = re.compile(r"exit status \d+|while running runtime|waiting for process to exit")
_UNABLE = re.compile(r"^error (?P<text>setting capabilities for process: .*)$", re.MULTILINE)
"""Buildah without a capability that it wants; no process of the build's ever ran."""
_KILLED = re.compile(
    r"exit status 137\b|signal: killed|^subprocess exited (?:on killed|with status 137)$",
    re.MULTILINE,
)
"""Of a process in the container; where all of it was killed, the pod says so."""
_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_DENIED = re.compile(
    r"unauthorized|authentication required|access denied|requested access .* denied"
    r"|(?<!permission )denied: |insufficient_scope|\b40[13]\b",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"toomanyrequests|too many requests|\b429\b|\b50[0234]\b|service unavailable|bad gateway"
    r"|connection (?:refused|reset|closed)|no such host|server misbehaving|timeout|timed out"
    r"|deadline exceeded"
    r"|\bEOF\b|network is unreachable|no route to host|TLS handshake|x509: "
    r"|(?:status|code)\D{0,24}(?:408|5\d\d)\b",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"^(?:initializing (?:image from )?source|determining manifest|reading )")
"""The pushing program, of what the build left to it."""
_TAKING = re.compile(
    r"at destination|writing (?:blob|manifest)|uploading manifest|pinging container registry",
    re.IGNORECASE,
)
"""The same, of the registry, which no upload is to blame for."""
_PLACE = re.compile(r"(?<!\S)\S*?(?<!\bi)/\S*")
"""A name, address or file: people choose what is in them. Not `i/o timeout`."""
_NPM = re.compile(r"^npm (?:error|ERR!)(?: (?P<text>.*))?$", re.MULTILINE)
_NPM_CODE = re.compile(r"code (?P<code>E?\w+)$")
_NPM_AWAY = re.compile(
    r"ECONN\w+|E(?:SOCKET)?TIMEDOUT|ENOTFOUND|EAI_AGAIN|E429|E5\d\d|ERR_SOCKET_TIMEOUT"
)
_NPM_IDLE = re.compile(
    r"^(code |errno |syscall |path |command |A complete log|    |Log files|404\s*$|\s*$)"
)
_NPM_DETAIL = ("Missing: ", "Invalid: ")
"""What a lock lacks, some lines below the sentence that it is out of step."""
_PIP = re.compile(r"^ERROR: (?P<text>.+)$", re.MULTILINE)
_PIP_AWAY = re.compile(r"^WARNING: Retrying \(Retry\(", re.MULTILINE)


def judge_build(log: str, *, memory_limit: str) -> SlessError:
    """The error that a failed building container stands for.

    Args:
        log: The end of what it wrote.
        memory_limit: Of that container, for the message.
    """
    log = _COLOUR.sub("", log)
    last = _last_word(log)
    if _KILLED.search(log):
        return out_of_memory(memory_limit)
    if _FULL.search(log):
        return DiskFull("The disk of the node that built has no room left; free some space there.")
    if unable := _UNABLE.search(log):
        return BuildFailed(_cut(f"The builder cannot run anything: {unable['text']}"))
    if _PROCESS.search(last):
        return _judge_install(_without_builder(log))
    said = _PLACE.sub("", last)
    if _DENIED.search(said):
        return RegistryDenied(_cut(f"The registry of the base image refuses the builder: {last}"))
    if _AWAY.search(said):
        return RegistryUnavailable(_cut(f"The base image's registry does not answer: {last}"))
    return BuildFailed(_cut(last))


def judge_push(log: str) -> SlessError:
    """The error that a failed pushing container stands for."""
    last = _last_word(log)
    if _SOURCE.search(last):
        return BuildFailed(_cut(f"The image could not be pushed: {last}"))
    said = _PLACE.sub("", last)
    if _DENIED.search(said):
        return RegistryDenied(_cut(f"The registry refuses the push: {last}"))
    if _AWAY.search(said) or _TAKING.search(said):
        return RegistryUnavailable(_cut(f"The registry does not take the image: {last}"))
    return BuildFailed(_cut(f"The image could not be pushed: {last}"))


def judge_base(log: str) -> SlessError:
    """The error that a failed fetching of the base image stands for."""
    last = _last_word(log)
    said = _PLACE.sub("", last)
    if _DENIED.search(said):
        return RegistryDenied(_cut(f"The base image's registry refuses its password: {last}"))
    if _AWAY.search(said):
        return RegistryUnavailable(_cut(f"The base image's registry does not answer: {last}"))
    return BuildFailed(_cut(f"The base image could not be fetched: {last}"))


def out_of_memory(limit: str, *, container: str = "build") -> OutOfMemory:
    """With the limit, and what to do."""
    cure = (
        "name smaller dependencies, or have the operator raise SLESS_LIMITS__BUILD_MEMORY_BYTES."
        if container == "build"
        else "deploy again; if it happens again, it is a defect of the platform."
    )
    return OutOfMemory(
        f"The build needed more than its {limit} of memory (container {container}): {cure}"
    )


def _judge_install(output: str) -> SlessError:
    if _NPM.search(output):
        return _judge_npm(output)
    refused = _PIP.findall(output)
    if refused and not re.search(r"^error: ", output, re.MULTILINE):
        if _PIP_AWAY.search(output):
            return IndexUnavailable(_cut(f"The package index does not answer: {refused[0]}"))
        return DependencyInstallFailed(_cut(refused[0]))
    return judge_install(Finished(1, output))


def _judge_npm(output: str) -> SlessError:
    lines = [(match["text"] or "") for match in _NPM.finditer(output)]
    codes = [match["code"] for line in lines if (match := _NPM_CODE.match(line.strip()))]
    telling = [line.strip() for line in lines if not _NPM_IDLE.match(line)]
    said = telling[0] if telling else (codes or ["npm failed without a word."])[0]
    said += next((f" {line}." for line in telling if line.startswith(_NPM_DETAIL)), "")
    if codes and _NPM_AWAY.fullmatch(codes[0]):
        return IndexUnavailable(_cut(f"The package registry does not answer: {said}"))
    return DependencyInstallFailed(_cut(said))


def _last_word(log: str) -> str:
    """The builder's own, which may span lines for a Dockerfile's command; else the last line."""
    found = list(_LAST_WORD.finditer(log))
    if found:
        text = log[found[-1].start() :].strip()
        inner = _MESSAGE.search(text)
        return inner["text"].replace('\\"', '"') if inner else text
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return lines[-1] if lines else "The builder failed without a word."


def _without_builder(log: str) -> str:
    found = list(_LAST_WORD.finditer(log))
    end = found[-1].start() if found else len(log)
    lines = log[:end].splitlines(keepends=True)
    return "".join(line for line in lines if not _BUILDERS_OWN.match(line))


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_MAX else f"{text[: MESSAGE_MAX - 1]}…"
