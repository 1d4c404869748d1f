"""Which files there are, in what order to index them, what changed, and an exact account of everything left out.

Who calls: ``indexer.py`` (and ``watch.py`` through it). What may not come in: reading of file content
(``content.py`` does), parsing, the index itself. Inside a repository git is asked and believed: a clean tracked file
is known by its blob id and not even stat-ed, a dirty or untracked one by size, times and inode. A folder without git
is walked, without following links.

Every thing found is counted exactly once: ``seen == files + sum(skipped.values())``. A folder that is left out
counts as one thing. With the state of the scan before, a tree in which no folder, ignore file or git index moved is
not listed at all.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from mog.engine.code import git, ignore
from mog.engine.code.compare import SPECIAL, SYMLINK, UNREADABLE, Entry, Known, ScanResult, Sorter, Tally, look, result
from mog.engine.code.languages_map import binary_by_name
from mog.engine.code.order import Order, source_roots
from mog.engine.code.scan_state import State, folder_stamps, index_checksum, stamp_of
from mog.engine.code.unlisted import BUILTIN, EXCLUDED, IGNORED, NESTED, Listed, account, walk

__all__ = [
    "BINARY",
    "EXCLUDED",
    "IGNORED",
    "MISSING",
    "NESTED",
    "SPARSE",
    "SPECIAL",
    "SUBMODULE",
    "SYMLINK",
    "UNREADABLE",
    "Entry",
    "Known",
    "ScanResult",
    "list_files",
]  # fmt: skip

SUBMODULE = "submodule"
BINARY = "binary"
MISSING = "missing"
SPARSE = "not_checked_out"

_IGNORE_NAMES = (".gitignore", ignore.FILE_NAME)
_DIFF = (
    "diff-files",
    "--raw",
    "-z",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
    "--relative",
)
_LIST = ("ls-files", "-s", "-v", "-z")
_OTHERS = (
    "ls-files",
    "-o",
    "-z",
    "--exclude-standard",
    *(part for name in sorted(BUILTIN) for part in ("-x", name + "/")),
)
_MODES = {"120000": SYMLINK, "160000": SUBMODULE}


def list_files(
    root: Path | str, *, exclude: Sequence[str] = (), known: Mapping[str, Known] | None = None, state: bytes = b""
) -> ScanResult:
    """List the files of ``root`` and say what changed against ``known``; no file is read.

    Args:
        root: work tree of a repository, a folder inside one, or a plain folder.
        exclude: further gitignore patterns (from the configuration).
        known: path → row of the index; asked by ``get`` for few paths when ``state`` still holds, iterated otherwise.
        state: ``ScanResult.state`` stored with those rows.

    Raises:
        GitRefused: git is there and refuses or fails.
        ConfigError: ``.mogignore`` or ``exclude`` holds what is no pattern.
    """
    folder = os.path.abspath(os.fspath(root))
    repo = git.open_repo(folder)
    if repo is None:
        return _walked(folder, exclude, known)
    listing = _Listing(folder, repo, exclude)
    try:
        stored = State.load(state) if known is not None and state else None
        if known is not None and stored is not None and (quick := listing.fast(stored, known)):
            return quick
        return listing.full(known)
    finally:
        listing.stop()


def _walked(root: str, exclude: Sequence[str], known: Mapping[str, Known] | None) -> ScanResult:
    tally = Tally()
    found = walk(root, tally.add, exclude)
    sorter = Sorter(root, known, Order(source_roots(path for path, _ in found)), tally)
    for path, info in found:
        if binary_by_name(path):
            tally.add(BINARY, path)
        else:
            sorter.stated(path, info)
    kept = set(sorter.kept)
    warnings = ["no git here: the folder was walked, and only .mogignore and the built-in excludes apply"]
    if inner := tally.counts[NESTED]:
        warnings.append(f"{inner} repositories lie inside this folder and were left out; run mog in one of them")
    return result(
        sorter, sorted(path for path in sorter.known if path not in kept), warnings=tuple(warnings), git=False
    )


def _text(out: bytes) -> str:
    return out.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


class _Listing:
    """One scan of one work tree."""

    def __init__(self, root: str, repo: git.Repo, exclude: Sequence[str]) -> None:
        self.root = root
        self.repo = repo
        self.exclude = list(exclude)
        self.start = time.time_ns()
        info = os.stat(root)
        self.identity = [info.st_dev, info.st_ino]
        self.index = index_checksum(repo.git_dir)
        self.settings = git.without_filters(repo)
        self.children: list[git.Child] = []
        self.rules = ignore.Rules()
        self.diff = self._child(*_DIFF)

    def _child(self, *arguments: str) -> git.Child:
        child = git.Child(self.root, arguments, settings=self.settings)
        self.children.append(child)
        return child

    def stop(self) -> None:
        for child in self.children:
            child.stop()

    # -- everything --------------------------------------------------------------------------------------

    def full(self, known: Mapping[str, Known] | None) -> ScanResult:
        """List everything and compare it with ``known``."""
        listing, others = self._child(*_LIST), self._child(*_OTHERS)
        tree = _tracked(_text(listing.finish()[1]))
        diff = _diff(self.diff.finish()[1])
        unknown = [path for path in _text(others.finish()[1]).split("\0") if path]
        untracked = [path for path in unknown if not path.endswith("/")]
        inner = {path[:-1] for path in unknown if path.endswith("/")}
        listed = [*tree.regular, *tree.links, *untracked]
        ignore_files = [p for p in listed if p.endswith(_IGNORE_NAMES) and p.rpartition("/")[2] in _IGNORE_NAMES]
        self.rules = ignore.load(self.root, exclude=self.exclude, nested=_own(ignore_files))
        base = Tally()
        for reason, paths in (
            (SYMLINK, tree.links),
            (SUBMODULE, tree.modules),
            (NESTED, {path + "/" for path in inner}),
        ):
            for path in paths:
                base.add(reason, path)
        folders, more = self._account(listed, tree, inner, diff, base)
        folders += inner
        order = Order(source_roots(tree.regular))
        sorter = Sorter(self.root, known, order, Tally())
        candidates = self._clean(tree.regular, diff.modes.keys() | tree.odd.keys(), sorter, base)
        state = self._remember(folders, [*ignore_files, *more])
        state.dirty, state.odd, state.untracked = sorted(diff.modes), tree.odd, untracked
        state.candidates, state.counts, state.examples = candidates, dict(base.counts), base.examples
        state.roots = sorted(order.roots)
        self._overlay_all(sorter, state, diff)
        return self._finish(sorter, state, diff, sorter.known.keys() - set(sorter.kept), fast=False)

    def _clean(self, regular: Mapping[str, bytes], touched: Set[str], sorter: Sorter, base: Tally) -> int:
        """Give every clean file to ``sorter``, count what its name alone leaves out; the number of candidates."""
        known, kept, ruled = sorter.known.get, sorter.kept.append, bool(self.rules)
        candidates = len(regular)
        for path, oid in regular.items():
            row = known(path)
            if row is not None and row[0] == oid and not ruled and path not in touched:
                kept(path)
            elif reason := self._by_name(path):
                base.add(reason, path)
                candidates -= 1
            elif path not in touched:
                sorter.clean(path, oid)
        sorter.unchanged = len(sorter.kept) - len(sorter.entries) - len(sorter.restamped)
        return candidates

    def _by_name(self, path: str) -> str:
        return self.rules.match(path) or (BINARY if binary_by_name(path) else "")

    def _account(
        self, listed: list[str], tree: _Tree, inner: set[str], diff: _Diff, base: Tally
    ) -> tuple[list[str], list[str]]:
        gone = diff.gone | {path for path in tree.odd if not os.path.lexists(os.path.join(self.root, path))}
        per_folder = Counter([path.rpartition("/")[0] for path in listed])
        per_folder.subtract(path.rpartition("/")[0] for path in gone)
        if os.path.isfile(os.path.join(self.root, ".git")):
            per_folder[""] += 1
        arranged = Listed(per_folder, lambda: {*listed, *tree.modules}, tree.modules | inner)
        return account(self.root, arranged, base.add, self._ignored)

    def _ignored(self, paths: list[str]) -> set[str]:
        if not paths:
            return set()
        asked = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        out = git.run(self.root, "check-ignore", "-z", "--stdin", accept=(0, 1), stdin=asked, settings=self.settings)
        return {path[2:] for path in _text(out).split("\0") if path}

    def _remember(self, folders: list[str], ignore_files: list[str]) -> State:
        names, stamps = folder_stamps(self.root, folders, self.start)
        rules = [stamp_of(path, self.start) for path in self._rule_files(ignore_files)]
        return State(self.identity, self.exclude, self.index, names, stamps, rules)

    def _rule_files(self, ignore_files: list[str]) -> list[str]:
        """Every file whose change may change what git or mog ignores, absent ones included."""
        configured = git.run(self.root, "config", "--get", "--path", "core.excludesFile", accept=(0, 1)).rstrip(b"\n")
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        fixed = [
            os.path.join(home, "git", "ignore"),
            os.path.join(home, "git", "config"),
            os.path.expanduser("~/.gitconfig"),
            os.path.join(self.repo.common_dir, "info", "exclude"),
            os.path.join(self.repo.common_dir, "config"),
            os.path.join(self.repo.git_dir, "config.worktree"),
            os.path.join(self.root, ignore.FILE_NAME),
        ]
        above = [p / ".gitignore" for p in Path(self.root).parents if p.is_relative_to(self.repo.top)]
        inside = [os.path.join(self.root, path) for path in ignore_files]
        return sorted({*fixed, *map(os.fspath, above), *inside, *([os.fsdecode(configured)] if configured else [])})

    # -- only what may have moved ------------------------------------------------------------------------

    def fast(self, state: State, known: Mapping[str, Known]) -> ScanResult | None:
        """The answer when no folder, ignore file or git index moved since ``state``; None when one did."""
        if not self.index or (state.root, state.exclude, state.index) != (self.identity, self.exclude, self.index):
            return None
        if not state.rules_stand() or not state.folders_stand(self.root):
            return None
        diff = _diff(self.diff.finish()[1])
        if any(path.rpartition("/")[2] in _IGNORE_NAMES for path in diff.modes.keys() ^ set(state.dirty)):
            self.diff = self._child(*_DIFF)
            return None
        if diff.modes or state.dirty or state.untracked:
            self.rules = ignore.load(self.root, exclude=self.exclude, nested=self._ignore_files(state))
        sorter = Sorter(self.root, known, Order(state.roots), Tally())
        settled = self._settled(sorted(set(state.dirty) - diff.modes.keys() - state.odd.keys()))
        settled = {path: oid for path, oid in settled.items() if not self._by_name(path)}
        looked_at = self._looked_at(state, diff)
        sorter.unchanged = state.candidates - len(settled) - sum(not static for static in looked_at.values())
        for path, oid in settled.items():
            sorter.clean(path, oid)
        state.dirty = sorted(diff.modes)
        self._overlay_all(sorter, state, diff)
        return self._finish(sorter, state, diff, set(sorter.dropped), fast=True)

    def _ignore_files(self, state: State) -> list[str]:
        below = [str(rule[0]) for rule in state.rules if str(rule[0]).startswith(self.root + os.sep)]
        return _own(os.path.relpath(path, self.root).replace(os.sep, "/") for path in below)

    def _settled(self, paths: list[str]) -> dict[str, bytes]:
        """Blob ids of files that were dirty and are clean now."""
        found: dict[str, bytes] = {}
        for at in range(0, len(paths), 500):
            out = git.run(self.root, *_LIST, "--", *paths[at : at + 500], settings=self.settings)
            found |= _tracked(_text(out)).regular
        return found

    # -- both --------------------------------------------------------------------------------------------

    def _looked_at(self, state: State, diff: _Diff) -> dict[str, str]:
        """Tracked paths that are judged one by one → the reason they would be left out for, were they clean."""
        modes = {**diff.modes, **state.odd}
        return {path: _MODES.get(mode) or self._by_name(path) for path, mode in modes.items()}

    def _overlay_all(self, sorter: Sorter, state: State, diff: _Diff) -> None:
        """Count on top of what would be so in a clean tree: dirty, odd and untracked paths."""
        examples = {reason: list(paths) for reason, paths in state.examples.items()}
        sorter.tally = Tally(Counter(state.counts), examples)
        for path, static in self._looked_at(state, diff).items():
            self._overlay(sorter, path, static, SPARSE if path in state.odd else MISSING, path in diff.gone)
        for path in state.untracked:
            if reason := self._by_name(path):
                sorter.drop(path, reason)
            else:
                sorter.on_disk(path, MISSING)

    def _overlay(self, sorter: Sorter, path: str, static: str, absent: str, gone: bool) -> None:
        info, reason = (None, "") if gone else look(self.root, path)
        if static and info is None and not reason:
            sorter.tally.remove(static, path)
            sorter.drop(path, absent)
        elif static == SYMLINK and info is not None:
            sorter.tally.remove(static, path)
            if again := self._by_name(path):
                sorter.drop(path, again)
            else:
                sorter.stated(path, info)
        elif not static and info is not None:
            sorter.stated(path, info)
        elif not static:
            sorter.drop(path, reason or absent)

    def _finish(self, sorter: Sorter, state: State, diff: _Diff, removed: Set[str], *, fast: bool) -> ScanResult:
        head = git.head_ref(self.root)
        dirty = bool(diff.modes or state.untracked) or git.staged(self.root, head)
        return result(sorter, sorted(removed), git=True, ref=str(head), dirty=dirty, state=state.dump(), fast=fast)


def _own(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if path.rpartition("/")[2] == ignore.FILE_NAME]


class _Diff(NamedTuple):
    """What git does not hold for clean: path → mode in its index, and which of these paths are gone from the disk."""

    modes: dict[str, str]
    gone: set[str]


def _diff(out: bytes) -> _Diff:
    parts = _text(out).split("\0")
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    return _Diff({path: head[1:7] for head, path in pairs}, {path for head, path in pairs if head[-1] == "D"})


class _Tree(NamedTuple):
    """git's index: regular path → blob id, links, submodules, and paths git does not compare or that are in conflict."""

    regular: dict[str, bytes]
    links: set[str]
    modules: set[str]
    odd: dict[str, str]


def _tracked(text: str) -> _Tree:
    tree = _Tree({}, set(), set(), {})
    regular, links, modules, odd = tree
    at = text.find("\t") + 1
    blob = bytes.fromhex
    for record in text.split("\0")[:-1]:
        path = record[at:]
        mode = record[2:8]
        if mode == "160000":
            modules.add(path)
            continue
        if record[0] != "H" or record[at - 2] != "0":
            odd[path] = mode if record[at - 2] == "0" else "100644"
        if mode == "120000" and record[at - 2] == "0":
            links.add(path)
        else:
            regular[path] = blob(record[9:49])
    return tree
