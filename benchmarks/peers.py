"""Peers that install from the registries, timed on the same corpus in the same run: full index, no change, one edit.

Who calls: ``benchmarks.index --peer``. What may not come in: anything installed outside the cache folder; telemetry is
switched off and each peer gets a home folder of its own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import edits
from benchmarks.corpora import Corpus, cache_dir, pristine, run_git
from benchmarks.measure import CommandFailed, Cost, disk_bytes, run


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer: its package, how it is installed into a folder, and its commands below that folder."""

    label: str
    install: Callable[[Path], list[list[str]]]
    program: str
    before: tuple[str, ...]
    full: tuple[str, ...]
    again: tuple[str, ...]
    leftovers: tuple[str, ...]


def _npm(package: str) -> Callable[[Path], list[list[str]]]:
    return lambda folder: [["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), package]]


def _pip(package: str) -> Callable[[Path], list[list[str]]]:
    return lambda folder: [
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", package],
    ]


PEERS = (
    Peer(
        "@colbymchenry/codegraph 1.6.1",
        _npm("@colbymchenry/codegraph@1.6.1"),
        "node_modules/.bin/codegraph",
        (),
        ("init",),
        ("sync",),
        (".codegraph",),
    ),
    Peer(
        "mogestrator 0.1.2",
        _pip("mogestrator==0.1.2"),
        "bin/mog",
        ("init",),
        ("index", "--full"),
        ("index",),
        (".mog",),
    ),
)


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What one peer cost, or why it could not be measured."""

    label: str
    full: Cost | None = None
    none: Cost | None = None
    edit: Cost | None = None
    disk: int = 0
    why_not: str = ""


def installed(peer: Peer) -> Path:
    """The peer's program in the cache folder, installed when missing. Raises OSError or CalledProcessError."""
    folder = cache_dir() / "peers" / peer.label.split("/")[-1].replace(" ", "-")
    program = folder / peer.program
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for command in peer.install(folder):
            subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    return program


def _environment() -> Mapping[str, str]:
    home = cache_dir() / "peers" / "home"
    home.mkdir(parents=True, exist_ok=True)
    return {"HOME": str(home), "DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0", "NO_COLOR": "1"}


def measure(peer: Peer, corpus: Corpus, root: Path) -> PeerResult:
    """Time a peer on a pristine corpus and clean up after it."""
    try:
        program = str(installed(peer))
    except (OSError, subprocess.SubprocessError) as error:
        return PeerResult(peer.label, why_not=f"could not be installed: {type(error).__name__}")
    env = _environment()
    pristine(root)
    try:
        if peer.before:
            run([program, *peer.before], cwd=root, env=env)
        full = run([program, *peer.full], cwd=root, env=env)
        disk = sum(disk_bytes(root / name) for name in peer.leftovers)
        none = run([program, *peer.again], cwd=root, env=env)
        edits.apply(corpus, root, "append")
        edit = run([program, *peer.again], cwd=root, env=env)
    except (CommandFailed, OSError) as error:
        return PeerResult(peer.label, why_not=str(error).partition(":")[0])
    finally:
        for name in peer.leftovers:
            shutil.rmtree(root / name, ignore_errors=True)
        run_git(root, "clean", "-q", "-fdx")
        pristine(root)
    return PeerResult(peer.label, full, none, edit, disk)
