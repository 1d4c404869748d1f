"""The one place that talks to git: thin, bytes in and out, and nothing of the repository is run.

Who calls: ``scan.py``, ``watch.py``, ``workspace.py``. What may not come in: parsing of source, decisions about what
to index, any git command that writes. A repository is untrusted input: its configuration can name programs (file
system monitors, content filters, hooks, transports), so every call overrides them. A repository that git refuses is
an error with a way out, never a walk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mog.engine.errors import GitRefused

TIMEOUT = 120.0
"""Seconds one git command may take before it is killed and refused."""

PIECE = 1 << 16

_KEPT = ("GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_TEST_ASSUME_DIFFERENT_OWNER")
"""Variables of the person's own environment that may pass: their configuration and the limits of discovery. All others
redirect.
"""

_FIXED = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PROTOCOL_FROM_USER": "0",
}

_OVERRIDES = (
    "core.fsmonitor=",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.askPass=",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "diff.external=",
    "submodule.recurse=false",
    "safe.bareRepository=explicit",
)


class Repo(NamedTuple):
    """Where a work tree and its databases lie.

    Attributes:
        top: root of the work tree.
        git_dir: the git folder of this work tree (differs per worktree).
        common_dir: the git folder shared by all worktrees of the clone.
    """

    top: Path
    git_dir: Path
    common_dir: Path


class Head(NamedTuple):
    """What is checked out: branch ("" when detached) and abbreviated commit ("" before the first one)."""

    branch: str
    commit: str

    def __str__(self) -> str:
        return "@".join(part for part in self if part) or "detached"


@lru_cache(maxsize=4)
def _program(search: str) -> str:
    """git from absolute PATH entries only, so that a ``git.exe`` in the current folder is never run; "" without one."""
    for folder in search.split(os.pathsep):
        if os.path.isabs(folder) and (found := shutil.which(os.path.join(folder, "git"))):
            return found
    return ""


def available() -> bool:
    """Is there a git program on PATH?"""
    return bool(_program(os.environ.get("PATH", os.defpath)))


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith("GIT_") or k.upper().startswith(_KEPT)}
    kept.pop("GIT_CONFIG_PARAMETERS", None)
    return {**kept, **_FIXED}


def _with_settings(env: dict[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Add configuration by environment: unlike ``-c``, it takes a key with ``=`` in it."""
    count = int(env["GIT_CONFIG_COUNT"]) if env.get("GIT_CONFIG_COUNT", "").isdigit() else 0
    for number, (key, value) in enumerate(settings.items(), start=count):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    env["GIT_CONFIG_COUNT"] = str(count + len(settings))
    return env


class Child:
    """A git command that was started; ``finish`` collects its output. Commands that only read may run side by side."""

    def __init__(
        self,
        folder: Path | str,
        arguments: Sequence[str],
        *,
        stdin: bytes | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        program = _program(os.environ.get("PATH", os.defpath))
        if not program:
            raise GitRefused(
                "this folder is a git repository and there is no git program on PATH",
                where=os.fspath(folder),
                way_out="install git, or add it to PATH",
            )
        environment = _environment()
        if settings:
            environment = _with_settings(environment, settings)
        options = [part for setting in _OVERRIDES for part in ("-c", setting)]
        if arguments[0] == "check-ignore":  # it takes plain paths and refuses the setting
            del environment["GIT_LITERAL_PATHSPECS"]
        self._folder = os.fspath(folder)
        self._verb = arguments[0]
        self._input = stdin
        try:
            self._process = subprocess.Popen(
                [program, "--no-pager", *options, *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
            )
        except OSError as error:
            raise GitRefused(
                f"git could not be started: {error.strerror}",
                where=self._folder,
                way_out="check the git installation and the folder's permissions",
            ) from error

    def finish(self, *, accept: Iterable[int] = (0,), timeout: float = TIMEOUT) -> tuple[int, bytes]:
        """Wait and return (exit code, stdout).

        Raises:
            GitRefused: git took longer than ``timeout`` seconds, or left with a code that is not in ``accept``.
        """
        try:
            out, err = self._process.communicate(self._input, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.stop()
            raise GitRefused(
                f"git {self._verb} did not answer within {timeout:g} seconds",
                where=self._folder,
                way_out="run it by hand there; a pipe in place of .gitignore or a stalled network disk makes git wait",
            ) from None
        if self._process.returncode not in accept:
            raise refusal(self._folder, self._verb, err)
        return self._process.returncode, out

    def pieces(self, *, timeout: float = TIMEOUT) -> Iterator[bytes]:
        """Output as it comes, so that what reads it works while git does. What is not read to its end is stopped.

        Raises:
            GitRefused: as ``finish``; ``timeout`` is for the whole of it.
        """
        assert self._process.stdout is not None and self._process.stderr is not None and self._input is None
        said = self._process.stderr
        errors: list[bytes] = []
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        watch = threading.Timer(timeout, stop)
        listener = threading.Thread(target=lambda: errors.append(said.read()), daemon=True)
        watch.daemon = True
        watch.start()
        listener.start()
        try:
            while piece := self._process.stdout.read1(PIECE):  # type: ignore[attr-defined]
                yield piece
            code = self._process.wait()
            listener.join(1.0)
        finally:
            watch.cancel()
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            listener.join(1.0)
            self._process.stdout.close()
            said.close()
        if late.is_set():
            raise GitRefused(
                f"git {self._verb} did not answer within {timeout:g} seconds",
                where=self._folder,
                way_out="run it by hand there; a stalled network disk makes git wait",
            )
        if code != 0:
            raise refusal(self._folder, self._verb, b"".join(errors))

    def stop(self) -> None:
        """Kill the command and collect what is left of it; harmless when it has ended."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


def refusal(folder: str, verb: str, stderr: bytes) -> GitRefused:
    """The error for what git said on ``stderr``, with the way out where it is known."""
    said = next((line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()), "it gave no reason")
    if b"dubious ownership" in stderr or b"unsafe repository" in stderr:
        return GitRefused(
            "git refuses this repository: another user owns it (dubious ownership)",
            where=folder,
            way_out=f"if you trust it, run: git config --global --add safe.directory {_shell_word(folder)}",
        )
    if b"cannot use bare repository" in stderr or b"must be run in a work tree" in stderr:
        return GitRefused(
            "this is a bare repository: it has no files to index",
            where=folder,
            way_out="run mog in a clone or worktree of it",
        )
    if b"not a git repository" in stderr:
        return GitRefused(
            f"there is a .git here that git does not accept: {said[:300]}",
            where=folder,
            way_out="repair it (git fsck, git worktree repair) or move .git away to index the plain folder",
        )
    return GitRefused(
        f"git {verb} failed: {said[:300]}",
        where=folder,
        way_out=f"run git {verb} there by hand and repair what it names",
    )


def _shell_word(text: str) -> str:
    plain = text and all(c.isalnum() or c in "/._-:\\" for c in text)
    return text if plain else "'" + text.replace("'", "'\\''") + "'"


def run(
    folder: Path | str,
    *arguments: str,
    accept: Iterable[int] = (0,),
    stdin: bytes | None = None,
    timeout: float = TIMEOUT,
    settings: Mapping[str, str] | None = None,
) -> bytes:
    """Standard output of one git command run in ``folder``.

    Raises:
        GitRefused: git is missing, refuses, fails, or takes longer than ``timeout`` seconds.
    """
    return Child(folder, arguments, stdin=stdin, settings=settings).finish(accept=accept, timeout=timeout)[1]


def marker(start: Path | str) -> Path | None:
    """The nearest folder at or above ``start`` that git would look at: it has a ``.git``, or is laid out as a bare
    repository.
    """
    here = Path(os.path.abspath(start))
    for folder in (here, *here.parents):
        if os.path.lexists(folder / ".git") or _looks_bare(folder):
            return folder
    return None


def _looks_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def open_repo(start: Path | str) -> Repo | None:
    """The repository around ``start``, or None when there is no git here at all.

    Raises:
        GitRefused: there is a repository and git is missing, refuses it (dubious ownership, damage), it is bare, or its
            configuration puts the work tree somewhere else (``core.worktree``), outside of what was opened.
    """
    folder = marker(start)
    if folder is None:
        return None
    if not os.path.lexists(folder / ".git"):
        raise refusal(os.fspath(folder), "rev-parse", b"must be run in a work tree")
    out = run(start, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
    lines = out.split(b"\n")
    if len(lines) != 4:
        raise GitRefused(
            "the path of the repository holds a line break",
            where=os.fspath(folder),
            way_out="move it to a path without one",
        )
    top, git_dir, common = (Path(os.path.join(start, os.fsdecode(line))) for line in lines[:3])
    if not os.path.samefile(top, folder):
        raise GitRefused(
            f"git takes {top} for the work tree, and .git lies in {folder}",
            where=os.fspath(folder),
            way_out="unset core.worktree (git config --unset core.worktree), or open the work tree itself",
        )
    return Repo(folder, git_dir, Path(os.path.realpath(common)))


def top(start: Path | str) -> Path | None:
    """Root of the work tree around ``start``, or None without git. Raises GitRefused as ``open_repo`` does."""
    repo = open_repo(start)
    return repo.top if repo else None


def common_dir(start: Path | str) -> Path | None:
    """The git folder that all worktrees of the clone share, or None without git. Raises GitRefused as ``open_repo``
    does.
    """
    repo = open_repo(start)
    return repo.common_dir if repo else None


def head_ref(folder: Path | str) -> Head:
    """Branch and abbreviated commit of the work tree at ``folder``. Raises GitRefused when git fails."""
    branch = run(folder, "symbolic-ref", "-q", "--short", "HEAD", accept=(0, 1))
    commit = run(folder, "rev-parse", "-q", "--verify", "--short", "HEAD^{commit}", accept=(0, 1))
    return Head(os.fsdecode(branch.strip()), commit.strip().decode("ascii", "replace"))


def staged(folder: Path | str, head: Head | None = None) -> bool:
    """Does the git index differ from the commit that is checked out? Raises GitRefused when git fails.

    Args:
        head: what ``head_ref`` said, to spare asking again.
    """
    if not (head or head_ref(folder)).commit:
        return bool(run(folder, "ls-files", "-z", "--cached"))
    arguments = (
        "diff-index",
        "--cached",
        "--quiet",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
        "HEAD",
        "--",
    )
    return Child(folder, arguments).finish(accept=(0, 1))[0] == 1


def without_filters(repo: Repo) -> dict[str, str]:
    """Settings that switch off every content filter the repository's own configuration defines.

    git runs such a filter when it compares a file whose time stamp is inconclusive. The person's global filters stay.
    Reading configuration runs nothing. Raises GitRefused when git cannot read it.
    """
    if not any(
        _may_define_filter(folder / name)
        for folder in {repo.git_dir, repo.common_dir}
        for name in ("config", "config.worktree")
    ):
        return {}
    listing = run(repo.top, "config", "--list", "--name-only", "-z", "--includes", "--show-scope").split(b"\0")
    settings: dict[str, str] = {}
    for scope, key in zip(listing[::2], listing[1::2], strict=False):
        if scope in (b"local", b"worktree") and key.startswith(b"filter."):
            stem = os.fsdecode(key).rpartition(".")[0]
            settings |= {f"{stem}.clean": "", f"{stem}.smudge": "", f"{stem}.process": "", f"{stem}.required": "false"}
    return settings


def _may_define_filter(path: Path) -> bool:
    try:
        text = path.read_bytes().lower() if path.is_file() else b""
    except OSError:
        return False
    return b"filter" in text or b"include" in text
