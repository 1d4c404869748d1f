"""Corpora by package name: fetched with the ordinary clients, unpacked and committed into a fresh git repository.

Who calls: the benchmarks. What may not come in: registry addresses (pip and npm know theirs), corpora in this
repository. Everything lies in the user's cache folder; ``MOG_BENCH_CACHE`` moves it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs


class CorpusMissing(Exception):
    """A corpus could not be had; says what was tried and how to do without the network."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One corpus and the files the measurements touch.

    Attributes:
        name: short name on the command line.
        package: name in its registry; ``kind`` is ``pip`` or ``npm``.
        archive: file name of the source archive.
        inner: folder inside the archive that becomes the repository.
        leaf: file for the one-file edits that has few dependants.
        hub: file that much of the rest depends on.
        hub_line: line after which the hub edit is put (the class it grows a method in).
        suffixes: files that the floor parses.
        language: grammar of the floor, by suffix.
    """

    name: str
    kind: str
    package: str
    version: str
    archive: str
    inner: str
    leaf: str
    hub: str
    hub_line: str
    suffixes: tuple[str, ...]


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "django",
            "pip",
            "django",
            "5.2.19",
            "django-5.2.19.tar.gz",
            "django-5.2.19",
            "django/db/models/fields/related_lookups.py",
            "django/db/models/query.py",
            "class QuerySet(",
            (".py",),
        ),
        Corpus(
            "sympy",
            "pip",
            "sympy",
            "1.14.0",
            "sympy-1.14.0.tar.gz",
            "sympy-1.14.0",
            "sympy/stats/random_matrix.py",
            "sympy/core/expr.py",
            "class Expr(",
            (".py",),
        ),
        Corpus(
            "rxjs",
            "npm",
            "rxjs",
            "7.8.2",
            "rxjs-7.8.2.tgz",
            "package",
            "src/internal/operators/pairwise.ts",
            "src/internal/Observable.ts",
            "export class Observable<",
            (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"),
        ),
    )
}

GIT_ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "benchmark",
    "GIT_AUTHOR_EMAIL": "benchmark@example.invalid",
    "GIT_COMMITTER_NAME": "benchmark",
    "GIT_COMMITTER_EMAIL": "benchmark@example.invalid",
    "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
}


def cache_dir() -> Path:
    """Where archives and repositories are kept, outside of this repository."""
    override = os.environ.get("MOG_BENCH_CACHE")
    path = Path(override) if override else Path(platformdirs.user_cache_dir("mog-benchmarks"))
    path.mkdir(parents=True, exist_ok=True)
    return path


def run_git(root: Path, *args: str, timeout: float = 600) -> str:
    """Run git in ``root`` with a neutral configuration. Raises CalledProcessError."""
    done = subprocess.run(
        ["git", *args],
        cwd=root,
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=os.environ | GIT_ENV,
        timeout=timeout,
    )
    return done.stdout.decode(errors="replace")


def fetch(corpus: Corpus) -> Path:
    """The source archive, downloaded by package name unless it is in the cache. Raises CorpusMissing."""
    folder = cache_dir() / "archives"
    folder.mkdir(exist_ok=True)
    archive = folder / corpus.archive
    if archive.exists():
        return archive
    spec = f"{corpus.package}=={corpus.version}" if corpus.kind == "pip" else f"{corpus.package}@{corpus.version}"
    command = (
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", spec]
        if corpus.kind == "pip"
        else ["npm", "pack", "--silent", spec]
    )
    try:
        done = subprocess.run(
            command, cwd=folder, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CorpusMissing(f"{command[0]} could not run: {error}") from error
    if not archive.exists():
        tail = (done.stdout + done.stderr).decode(errors="replace").strip()[-300:]
        raise CorpusMissing(
            f"{spec} could not be fetched ({tail}); put {corpus.archive} into the cache's archives folder"
        )
    return archive


def repository(corpus: Corpus) -> Path:
    """The corpus as a git repository with one commit and nothing else. Raises CorpusMissing."""
    root = cache_dir() / "repos" / corpus.name
    if not (root / ".git" / "HEAD").exists():
        shutil.rmtree(root, ignore_errors=True)
        unpack(fetch(corpus), corpus.inner, root)
        commit_all(root)
    return root


def unpack(archive: Path, inner: str, root: Path) -> None:
    """Unpack the folder ``inner`` of a tar archive to ``root``."""
    staging = root.with_name(root.name + ".part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        tar.extractall(staging, filter="data")
    (staging / inner).rename(root)
    shutil.rmtree(staging, ignore_errors=True)


def commit_all(root: Path) -> None:
    """Make ``root`` a repository whose one commit holds every file."""
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "config", "gc.auto", "0")
    run_git(root, "add", "-A", "-f")
    run_git(root, "commit", "-q", "-m", "corpus")


def pristine(root: Path) -> None:
    """Bring the repository back to its commit and forget the index, whatever an earlier run left."""
    shutil.rmtree(root / ".mog", ignore_errors=True)
    run_git(root, "reset", "-q", "--hard")
    run_git(root, "clean", "-q", "-fdx")


def many_files(count: int) -> Path:
    """A synthetic repository of ``count`` small Python modules, a hundred to a folder, one commit."""
    root = cache_dir() / "repos" / f"clean-{count}"
    if (root / ".git" / "HEAD").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    for number in range(count):
        folder = root / f"p{number // 10_000:02d}" / f"q{number // 100 % 100:02d}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"m{number % 100:02d}.py").write_text(f"def f_{number}():\n    return {number}\n", encoding="utf-8")
    commit_all(root)
    return root
