"""What holds for any files, and for any damage to a zip."""

import random
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from hypothesis import given, settings
from hypothesis import strategies as st

from sless.archive import check_zip, pack_folder, prepare_context
from sless.archive.paths import collision_key
from sless.errors import BadArchive, BadDependencies, SlessError, leaves
from tests.unit.archives import Entry, link, open_context, write_zip

LEAVES = set(leaves(BadArchive)) | set(leaves(BadDependencies))

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\\\0:"), min_size=1, max_size=8
).filter(lambda name: name not in {".", "..", "__MACOSX", ".DS_Store"})
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


def free_of_collisions(found: dict[str, bytes]) -> bool:
    """Whether no two of the paths and of the folders they lie in can be taken for one."""
    folders = {str(parent) for path in found for parent in PurePosixPath(path).parents}
    every = [*found, *folders]
    return len({collision_key(path) for path in every}) == len(every)


trees = (
    st.dictionaries(paths, st.binary(max_size=200), min_size=1, max_size=8)
    .map(lambda found: {"requirements.in": b"", **found})  # At the top: nothing is stripped.
    .filter(free_of_collisions)
)
methods = st.sampled_from([0, 8, 12, 14])


@contextmanager
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@settings(max_examples=40, deadline=None)
@given(files=trees, method=methods, other=methods, seed=st.integers(0, 100))
def test_any_files_survive_and_their_order_and_compression_do_not(
    files: dict[str, bytes], method: int, other: int, seed: int
) -> None:
    shuffled = list(files.items())
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - a seed makes it repeatable
    with workspace() as folder:
        first = [Entry(path, data, method=method) for path, data in files.items()]
        second = [Entry(path, data, method=other) for path, data in shuffled]
        one = open_context(write_zip(folder / "one.zip", *first), "node22")
        two = open_context(write_zip(folder / "two.zip", *second), "node22")
        assert one.code == files
        assert one.context.sha256 == two.context.sha256
        assert (folder / "one.tar.gz").read_bytes() == (folder / "two.tar.gz").read_bytes()


@settings(max_examples=40, deadline=None)
@given(files=trees)
def test_a_packed_folder_comes_out_as_it_went_in(files: dict[str, bytes]) -> None:
    with workspace() as folder:
        for path, data in files.items():
            target = folder / "in" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        packed = pack_folder(folder / "in", folder / "a.zip")
        code = open_context(folder / "a.zip", "node22").code
        skipped = tuple(packed.skipped)
        assert code == {path: data for path, data in files.items() if not path.startswith(skipped)}


VALID = [
    Entry("handler.py", b"def handler(request): return 'hi'\n" * 30),
    Entry("requirements.txt", b"requests==2\n", method=0),
    Entry("bin/run.sh", b"#!/bin/sh\n" * 20, method=12),
    Entry("data/big", bytes(range(256)) * 20, method=14),
    link("data/link", "../handler.py"),
]


def mutate(data: bytearray, *, seed: int, flips: int, cut: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - likewise
    for _ in range(flips):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if cut:
        del data[-min(cut, len(data) - 1) :]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**9), flips=st.integers(0, 12), cut=st.sampled_from([0, 0, 0, 1, 300]))
def test_a_damaged_zip_works_or_is_refused_by_a_leaf(seed: int, flips: int, cut: int) -> None:
    with workspace() as folder:
        path = write_zip(folder / "a.zip", *VALID)
        data = bytearray(path.read_bytes())
        mutate(data, seed=seed, flips=flips, cut=cut)
        path.write_bytes(data)
        try:
            check_zip(path)
            prepare_context(path, "python3.11", folder / "out")
        except SlessError as error:
            assert type(error) in LEAVES  # noqa: PT017 - most examples raise nothing or this
            assert sorted(one.name for one in folder.iterdir()) == ["a.zip"]
        else:
            check_within(folder / "out")


hostile = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["a", "b", "..", ".", "", "C:", "l"]), min_size=1, max_size=4),
        st.sampled_from(["/", "\\"]),
        st.none() | st.lists(st.sampled_from(["a", "b", "..", ".", "", "l"]), max_size=4),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(entries=hostile)
def test_no_entry_and_no_link_of_a_context_is_outside(
    entries: list[tuple[list[str], str, list[str] | None]],
) -> None:
    with workspace() as folder:
        made = [
            Entry(separator.join(parts)) if target is None
            else link(separator.join(parts), "/".join(target))
            for parts, separator, target in entries
        ]  # fmt: skip
        path = write_zip(folder / "a.zip", *made)
        try:
            prepare_context(path, "python3.11", folder / "out")
        except SlessError as error:
            assert type(error) in LEAVES  # noqa: PT017 - likewise
        else:
            check_within(folder / "out")


def check_within(context: Path) -> None:
    """Unpacks with nothing checked, as a naive builder would, and looks where everything went."""
    with tempfile.TemporaryDirectory() as name, tarfile.open(context) as tar:
        inside = Path(name, "inside").resolve()
        tar.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)  # since 3.11.4
        tar.extractall(inside)  # noqa: S202 - that is the test
        assert [one.name for one in inside.parent.iterdir()] == ["inside"]
        for found in inside.rglob("*"):
            assert found.resolve().is_relative_to(inside / found.relative_to(inside).parts[0])


def test_the_zip_that_is_damaged_above_is_a_good_one(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", *VALID)
    assert zipfile.ZipFile(path).testzip() is None
    assert len(open_context(path).code) == len(VALID) - 1
