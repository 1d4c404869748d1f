"""A new generation of a ``contextmesh.session`` folder, written so that a crash leaves the old one or the new one, whole.

Called by ``engine/executor/session``. Companions and their digests first, then the manifest, which is the commit, then the
pointer; the folder is synced between, and what is written was read back strictly before. The generation before is kept. What
may not come in: the mesh.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mog.engine.errors import HeldByOther, MogError, StoreDamaged, UsageError
from mog.engine.executor.v1 import folder as files
from mog.engine.executor.v1.manifest import (
    LAST_OF_SIX,
    MAX_GENERATION,
    POINTER,
    STEMS,
    file_name,
    generation_of,
    read_manifest,
    write_manifest,
)
from mog.engine.executor.v1.records import SESSION_VERSION, ManifestV1, WalkerV1
from mog.engine.executor.v1.session_dir import SessionV1, assemble, read_session, sums_name, write_sums

_SWEPT = re.compile(r"(session|graph|resolver|execution|runledger|sums)-([0-9]{1,20})\.json")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a generation is to hold: the texts of its files; ``execution``, ``ledger`` and ``ledger_head`` together or None."""

    rounds: int
    walker: WalkerV1
    graph: bytes
    resolver: bytes
    execution: bytes | None = None
    ledger: bytes | None = None
    ledger_head: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What writing did.

    Attributes:
        generation: the newest generation of the folder now. written: False when it said the same already.
        kept: the generation before, which stays beside it; 0 for none.
        removed: files that were taken away: of older generations, of no generation, left over by a crash.
        set_aside: files of newer numbers that did not hold, renamed to ``damaged-…`` for a person to look at.
        notes: what did not work after the generation was safe.
    """

    folder: Path
    generation: int
    written: bool
    kept: int = 0
    removed: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def write_session(
    path: Path, contents: Contents, *, expected: int | None = None, allow: Callable[[SessionV1], None] | None = None
) -> Written:
    """Commit a generation.

    Args:
        expected: the generation the folder must stand at (0: none); None for any.
        allow: is shown what the folder holds; raises to refuse the write.

    Raises:
        HeldByOther: another process writes there, or has written since ``expected``.
        UsageError: a link in the place of a file, a version from the future, contents that contradict each other.
        StoreDamaged: what is there cannot be read and is not written over, or the disk refuses. No new generation then,
            unless the message says that it is there and only its durability is in doubt.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"no folder can be made there ({error.strerror})", where=str(path), way_out="name another") from error
    folder = files.opened(path)
    with files.writing(folder):
        live = _live(folder)
        at = live.manifest.generation if live else 0
        if expected is not None and expected != at:
            what = f"the folder stands at generation {at}, not {expected}"
            raise HeldByOther(what, where=str(folder), way_out="read it again and retry")
        if live is not None and allow is not None:
            allow(live)
        if live is not None and not live.fell_back and _says(live, contents):
            files.settle(folder)  # perhaps it is here because a sync failed
            return Written(folder, at, False)
        return _commit(folder, _next(folder, at), contents, live)


def _live(folder: Path) -> SessionV1 | None:
    names = [entry.name for entry in folder.iterdir()]
    if POINTER not in names and not any(map(generation_of, names)):
        return None
    return read_session(folder)


def _says(live: SessionV1, contents: Contents) -> bool:
    manifest, texts = _manifest(live.manifest.generation, contents)
    return manifest == live.manifest and texts == dict(live.texts)


def _next(folder: Path, at: int) -> int:
    """One above the newest generation that anybody committed here; a number that cannot have been reached is passed over."""
    numbers = [at]
    for entry in folder.iterdir():
        number = generation_of(entry.name)
        if number and at < number < MAX_GENERATION:
            with contextlib.suppress(MogError):
                if read_manifest(files.read_file(folder, entry.name), entry.name).generation == number:
                    numbers.append(number)
    if at >= MAX_GENERATION:
        raise UsageError("the folder has no number left", where=str(folder), way_out="write into an empty folder")
    return max(numbers) + 1


def _manifest(generation: int, contents: Contents) -> tuple[ManifestV1, dict[str, bytes]]:
    texts: dict[str, bytes] = {}
    names: dict[str, str | None] = {}
    for field, stem in STEMS.items():
        text: bytes | None = getattr(contents, field)
        names[field] = file_name(stem, generation) if text is not None else None
        if text is not None:
            texts[file_name(stem, generation)] = text
    graph, resolver = names["graph"] or "", names["resolver"] or ""
    manifest = ManifestV1(
        SESSION_VERSION, generation, contents.rounds, contents.walker, graph, resolver, names["execution"], names["ledger"],
        contents.ledger_head,
    )  # fmt: skip
    return manifest, texts


def _commit(folder: Path, generation: int, contents: Contents, live: SessionV1 | None) -> Written:
    manifest, texts = _manifest(generation, contents)
    text, name = write_manifest(manifest), file_name("session", generation)
    assemble(read_manifest(text, name), texts)  # what could not be read back is never committed
    for file, data in {**texts, sums_name(generation): write_sums(text, texts)}.items():
        files.place(folder, file, data)
    files.settle(folder)
    files.place(folder, name, text)
    try:
        files.settle(folder)
    except StoreDamaged as error:
        what = f"generation {generation} is written, and it cannot be told whether it outlives a power cut"
        raise StoreDamaged(what, where=error.where, way_out="check the disk, then write again") from error
    notes = _point(folder, text)
    kept = _kept(live, generation)
    keep = {name, sums_name(generation), *texts, *(_files_of(live) if live and kept else ())}
    removed, aside = _sweep(folder, keep, live.manifest.generation if live else 0)
    return Written(folder, generation, True, kept, removed, aside, notes)


def _point(folder: Path, text: bytes) -> tuple[str, ...]:
    """The pointer is a copy for people and for versions that know no numbers; the generation stands without it."""
    try:
        files.place(folder, POINTER, text)
        files.settle(folder)
    except StoreDamaged as error:
        return (f"the pointer {POINTER} could not be written: {error.what}",)
    return ()


def _kept(live: SessionV1 | None, generation: int) -> int:
    """The generation before stays, except where the earlier package would take it for the newest."""
    if live is None or generation > LAST_OF_SIX >= live.manifest.generation:
        return 0
    return live.manifest.generation


def _files_of(session: SessionV1) -> tuple[str, ...]:
    at = session.manifest.generation
    return (file_name("session", at), sums_name(at), *session.manifest.names)


def _sweep(folder: Path, keep: set[str], at: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    removed, aside = [], []
    for name in sorted(entry.name for entry in folder.iterdir()):
        numbered = _SWEPT.fullmatch(name)
        staged = name.startswith(files.STAGING_PREFIX) and name.endswith(files.STAGING_SUFFIX)
        kind = files.kind_of(folder / name)
        if name in keep or not (numbered or staged) or kind not in ("file", "link"):
            continue
        with contextlib.suppress(OSError):
            if numbered and kind == "file" and int(numbered.group(2)) > at:
                os.replace(folder / name, folder / f"damaged-{name}")
                aside.append(name)
            else:
                (folder / name).unlink()
                removed.append(name)
    return tuple(removed), tuple(aside)
