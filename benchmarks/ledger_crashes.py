"""Every state a crash can leave: what a writer asked of the disk, replayed up to a moment, in order and out of order.

Called by ``benchmarks.reliability`` and the tests of the ledger. After Pillai et al., "All File Systems Are Not Created
Equal" (OSDI 2014), in small: the calls come from strace, content is sure once its file was synced and names once their
folder was; what is not sure may be there, be missing, or be there up to some sector. What may not come in: how a ledger
is stored. The shared-memory file is left out, because it does not outlive a crash.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import ledger_world as world
from benchmarks.ledger_disk import CHILD
from benchmarks.ledger_faults import CannotRun, Outcome

CALLS = "openat,pwrite64,write,ftruncate,fsync,fdatasync,link,unlink,rename"
SECTOR = 512
_LINE = re.compile(r"(?:\d+ +)?(\w+)\((.*)\)\s+= (-?\d+)(?:<(.*)>)?$")
_FD = re.compile(r"\d+<([^>]*)>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


@dataclass(frozen=True, slots=True)
class Call:
    """One call: ``made``, ``wrote`` (at an offset), ``cut`` (to a length), ``synced``, ``linked``, ``removed``, ``said``."""

    kind: str
    file: str
    content: bytes = b""
    at: int = 0
    to: str = ""


@dataclass(slots=True)
class Disk:
    """Files by number of their content, names pointing at contents; both as sure, with what is pending beside them."""

    contents: dict[int, bytearray] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Disk:
        """A disk of its own."""
        return Disk({number: bytearray(raw) for number, raw in self.contents.items()}, dict(self.names))


def traced(folder: Path, commits: int) -> list[Call]:
    """The calls of a writer that makes a ledger in ``folder`` and commits to it. Raises CannotRun."""
    if shutil.which("strace") is None:
        raise CannotRun("strace is not installed")
    trace = folder.with_name("trace")
    command = ["strace", "-f", "-qq", "-y", "-xx", "-s", "70000", "-o", str(trace), "-e", f"trace={CALLS}"]
    command += [sys.executable, "-P", str(CHILD), "write", str(folder / "ledger.db"), "0", str(commits), ""]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    found = [call for line in trace.read_text(encoding="ascii").splitlines() if (call := _call(line, str(folder)))]
    if not any(call.kind == "synced" for call in found):
        raise CannotRun("strace cannot trace here")
    return found


def _call(line: str, folder: str) -> Call | None:
    found = _LINE.match(line)
    if found is None or found[3].startswith("-"):
        return None
    name, words = found[1], found[2]
    texts = [bytes.fromhex(text.replace("\\x", "")) for text in _TEXT.findall(words)]
    files = [bytes.fromhex(fd.replace("\\x", "")).decode() if "\\x" in fd else fd for fd in _FD.findall(words)]
    if name == "write" and words.startswith("1<"):
        return Call("said", "", texts[0])
    if name in ("link", "rename", "unlink"):
        paths = [text.decode() for text in texts]
        kind = {"link": "linked", "rename": "moved", "unlink": "removed"}[name]
        return Call(kind, paths[0], to=paths[-1]) if paths[0].startswith(folder) else None
    if name == "openat":
        path = texts[0].decode()
        return Call("made", path) if "O_CREAT" in words and path.startswith(folder) else None
    if not files or not files[0].startswith(folder) or files[0].endswith("-shm"):
        return None
    numbers = [int(word) for word in re.findall(r", (\d+)", _TEXT.sub("", words))]
    if name in ("write", "pwrite64"):
        return Call("wrote", files[0], texts[0], numbers[-1] if name == "pwrite64" else 0)
    return Call("cut", files[0], at=numbers[-1]) if name == "ftruncate" else Call("synced", files[0])


def crash_states(calls: list[Call], chance: random.Random, tries: int) -> list[tuple[Disk, str]]:
    """States after a crash at a moment, each with what had been said by then.

    For every moment the state in which all calls so far took place, and ``tries`` in which those that were not sure took
    place in part.
    """
    sure, pending, said, states = Disk(), [], b"", []
    handles: dict[str, int] = {}
    for call in calls:
        if call.kind == "said":
            said += call.content
            continue
        if call.kind == "synced":
            pending = _sync(sure, pending, handles, call.file)
            continue
        if call.kind == "made":
            if call.file in handles and call.file not in {p.file for p, _ in pending if p.kind == "removed"}:
                continue
            handles[call.file] = len(sure.contents)
            sure.contents[handles[call.file]] = bytearray()
        pending.append((call, handles.get(call.file, -1)))
        if call.kind in ("linked", "moved"):
            handles[call.to] = handles[call.file]
        if call.kind in ("removed", "moved"):
            handles.pop(call.file, None)
        for number in range(1 + tries):
            disk = sure.copy()
            for each, content in pending if number == 0 else _part(pending, chance):
                _apply(disk, each, content)
            states.append((disk, said.decode()))
    return states


def _part(pending: list[tuple[Call, int]], chance: random.Random) -> list[tuple[Call, int]]:
    """Some of the calls that are not sure, the names in their order, one write torn at a sector."""
    kept = [pair for pair in pending if chance.random() < 0.6]
    writes = [i for i, (call, _) in enumerate(kept) if call.kind == "wrote" and len(call.content) > SECTOR]
    if writes:
        i = chance.choice(writes)
        call, content = kept[i]
        sectors = chance.randrange(len(call.content) // SECTOR)
        kept[i] = (Call("wrote", call.file, call.content[: sectors * SECTOR], call.at), content)
    return kept


def _sync(sure: Disk, pending: list[tuple[Call, int]], handles: dict[str, int], file: str) -> list[tuple[Call, int]]:
    """Make sure what a sync makes sure: the content of a file, or the names in a folder; what is left pending."""
    left = []
    for call, content in pending:
        named = call.kind in ("made", "linked", "removed", "moved")
        mine = call.file.rpartition("/")[0] == file if named else content == handles.get(file, -2)
        if mine:
            _apply(sure, call, content)
        else:
            left.append((call, content))
    return left


def _apply(disk: Disk, call: Call, content: int) -> None:
    raw = disk.contents.get(content, bytearray())
    if call.kind == "wrote":
        raw.extend(bytes(max(0, call.at + len(call.content) - len(raw))))
        raw[call.at : call.at + len(call.content)] = call.content
    elif call.kind == "cut":
        del raw[call.at :]
        raw.extend(bytes(call.at - len(raw)))
    elif call.kind in ("made", "linked", "moved"):
        disk.names[call.to or call.file] = content
    if call.kind in ("removed", "moved"):
        disk.names.pop(call.file, None)


def crashes(folder: Path, commits: int, tries: int, seed: int = 1, *, deaf: bool = False) -> Outcome:
    """Judge every crash state of a writer that makes a ledger, commits and closes it.

    With ``deaf`` the disk obeys no sync, and then acknowledged events must be missing somewhere: a check of the check.
    """
    source = folder / "source"
    source.mkdir()
    calls, found = traced(source, commits), Outcome()
    calls = [call for call in calls if not deaf or call.kind != "synced"]
    for disk, said in crash_states(calls, random.Random(seed), tries):
        at = folder / "state"
        shutil.rmtree(at, ignore_errors=True)
        at.mkdir()
        for name, content in disk.names.items():
            if not name.endswith("-shm"):
                (at / Path(name).name).write_bytes(disk.contents[content])
        told = world.Told().hear(said)
        found.tries += 1
        found.counts["acknowledged"] = max(found.counts["acknowledged"], len(told.acknowledged))
        found.wrong += [f"state {found.tries}: {what}" for what in world.judge(at / "ledger.db", told)]
    return found
