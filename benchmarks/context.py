"""What making a context costs, as ratios to work that nobody can avoid, so machines compare.

Run with `python benchmarks/context.py`. Time is that of a plain copy through Python's own zipfile
and gzip (level 1); memory is what a zip 20 times as large adds.
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from sless.archive import check_zip, prepare_context

MIB = 1024 * 1024
FILE_BYTES = MIB // 4


def make_zip(path: Path, mebibytes: int) -> Path:
    """Half random, half text: about what installed packages compress to."""
    text = b"def handler(request):\n    return request.json()\n" * (FILE_BYTES // 96)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for number in range(mebibytes * MIB // FILE_BYTES):
            noise = os.urandom(FILE_BYTES // 2)
            out.writestr(f"folder{number % 10}/{number}.bin", noise + text)
    return path


def copy_plainly(path: Path, out_path: Path) -> None:
    """The unavoidable: inflate everything once and deflate it once."""
    with zipfile.ZipFile(path) as source, gzip.open(out_path, "wb", compresslevel=1) as out:
        for info in source.infolist():
            with source.open(info) as file:
                shutil.copyfileobj(file, out, 64 * 1024)


def seconds(work: Callable[[], object], *, rounds: int = 3) -> float:
    """The best of some rounds, in seconds of CPU."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def peak(path: Path, out_path: Path) -> int:
    """The peak memory in bytes of a process that makes one context."""
    command = [sys.executable, __file__, str(path), str(out_path)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Prints three ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = make_zip(folder / "s.zip", 10), make_zip(folder / "l.zip", 200)
        out = folder / "out"
        plain = seconds(lambda: copy_plainly(large, out))
        context = seconds(lambda: prepare_context(large, "python3.11", out))
        checked = seconds(lambda: check_zip(large))
        print(f"context: {context / plain:.2f} times a plain copy of 200 MB ({context:.1f} s)")
        print(f"check:   {checked / plain:.2f} times a plain copy of 200 MB ({checked:.1f} s)")
        ratio = peak(large, out) / peak(small, out)
        print(f"memory:  {ratio:.2f} times at 200 MB what it is at 10 MB")


def measure(path: Path, out_path: Path) -> None:
    """Makes one context and prints this process's peak memory in bytes."""
    prepare_context(path, "python3.11", out_path)
    # Not getrusage: its maximum is inherited from the process that started this one.
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    assert found
    print(int(found[1]) * 1024)


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(*map(Path, sys.argv[1:]))
    else:
        main()
