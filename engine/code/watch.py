"""Tells when files under a root change: edge-triggered, coalesced, and open about having to poll.

Who calls: ``engine/workspace.py`` starts one `Watcher` a workspace and reconciles what each `Batch` names.
What may not come in: file contents, child processes, the decision what is indexed (asked through callables).

A batch is a hint and the disk is the truth: a named path may be unchanged, gone, or of no interest. Quiet trees cost
nothing but the notifier's own wake-ups, however dirty they are towards git: only events make batches.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

from mog.engine.code.watch_pace import GIT_LOCK_PATIENCE, Coalescer, file_system_of, next_poll

STEP_MS, REST_MS = 20, 60
"""Wake-up interval of the notifier, and when nothing changed for a while; an event is handed on after one to two steps."""
REST_AFTER = 30.0
"""Seconds without an event after which the notifier wakes less often: only the first edit after a pause waits for that."""
DEBOUNCE_MS = 30
"""Longest the notifier may group events before it hands them over."""
FLOOD = 8192
"""Raw events in one hand-over from which some may be lost (half of the usual kernel queue)."""
LIVE_RETRY = 300.0
"""Seconds between tries to leave polling."""

_MODIFIED = 2  # watchfiles.Change.modified
_OWN = frozenset({".git", ".mog"})
_GIT_MARKS = frozenset({"HEAD", "index", "ORIG_HEAD"})
_RULE_FILES = frozenset({".gitignore", ".mogignore", "mog.yaml", "mog.local.yaml"})
_SILENT_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "vboxsf", "prl_fs", "fuse.sshfs"}
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What may have changed since the last batch. Paths are relative to the root, ``/``-separated, sorted.

    Attributes:
        paths: files that were added, changed or deleted.
        rescan_dirs: folders that appeared or vanished: list what is under them now, drop what was.
        overflow: events may be lost, or the rules of what is listed changed: reconcile everything.
        git: HEAD or the index moved (a branch switch, a commit, an add); sent once, after it settled.
        reason: why ``overflow`` is set ("" when it is not).
    """

    paths: tuple[str, ...] = ()
    rescan_dirs: tuple[str, ...] = ()
    overflow: bool = False
    git: bool = False
    reason: str = ""


class Notifier(Protocol):
    """The part of ``watchfiles``' RustNotify that is used here; tests bring their own."""

    def watch(self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event | None) -> object:
        """Set of ``(change, path)``, or a word: ``stop``, ``timeout``, ``signal``."""

    def close(self) -> None:
        """Release the watches."""


OpenNotifier = Callable[[list[str], bool], Notifier]
ListDirs = Callable[[Collection[str]], Iterable[str]]
Ignored = Callable[[Collection[str]], Collection[str]]


def open_notifier(paths: list[str], recursive: bool) -> Notifier:
    """Watch ``paths`` with watchfiles. Raises OSError (limit reached, a path gone or closed) and ImportError.

    Its ``ignore_permission_denied`` stays off: it would swallow the watch limit as well, and watch a part in silence.
    """
    from watchfiles._rust_notify import RustNotify  # documented by watchfiles as its direct interface

    return RustNotify(paths, False, False, 0, recursive, False)


def _silent_file_system(root: str) -> str:
    """Name of a network file system under ``root`` that reports no changes of other machines; "" when it does."""
    try:
        text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    kind = file_system_of(root, text)
    return kind if kind in _SILENT_FILE_SYSTEMS else ""


def _git_dir(root: str) -> str:
    """Folder with this work tree's HEAD and index, that of a linked worktree included; "" without git."""
    mark = Path(root, ".git")
    if mark.is_file():
        with mark.open("rb") as handle:
            line = os.fsdecode(handle.read(4096)).strip()
        mark = Path(root, line.removeprefix("gitdir:").strip())
    return str(mark) if (mark / "HEAD").is_file() else ""


def _is_dir(path: str) -> bool:
    """A real folder, not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _sub_dirs(path: str) -> Iterator[str]:
    try:
        with os.scandir(path) as entries:
            yield from (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return


def _under(path: str, folders: Iterable[str]) -> bool:
    return any(not folder or path.startswith(folder + "/") for folder in folders)


def _nothing_ignored(paths: Collection[str]) -> Collection[str]:
    return ()


@dataclass(slots=True)
class _Pending:
    """What arrived and was not handed on yet."""

    paths: set[str] = field(default_factory=set)
    dirs: set[str] = field(default_factory=set)
    git: bool = False
    reason: str = ""

    def batch(self) -> Batch:
        dirs = sorted(d for d in self.dirs if not _under(d, self.dirs - {d}))
        paths = sorted(p for p in self.paths if not _under(p, dirs)) if dirs else sorted(self.paths)
        return Batch(tuple(paths), tuple(dirs), bool(self.reason), self.git, self.reason)

    def __bool__(self) -> bool:
        return bool(self.paths or self.dirs or self.git or self.reason)


class Watcher:
    """Watches ``root`` on a thread of its own and calls ``on_change`` there, one batch at a time.

    A batch whose ``on_change`` raised is not lost: the next one, after a growing pause, asks to reconcile everything.

    Args:
        root: folder to watch.
        on_change: takes a `Batch`; a true answer says that something did change (polling then stays quick).
        list_dirs: folders → those folders at or below them that deserve a watch, relative to the root ("" is the root).
            By default all of them but ``.git`` and ``.mog``; links are not followed.
        ignored: files → those of no interest. Asked once a batch, so that it may be slow.
        on_state: told the new state, on the watcher's thread.
        catch_up: once the watches stand, ask to reconcile everything (on the watcher's thread), so that nothing is missed.
        poll: do not even try to watch. poll_interval: seconds between polls at first.
        coalescer: timing of bursts.
        notifier: opens the notifier; tests bring their own.
    """

    def __init__(
        self,
        root: Path | str,
        on_change: Callable[[Batch], object],
        *,
        list_dirs: ListDirs | None = None,
        ignored: Ignored | None = None,
        on_state: Callable[[str], None] | None = None,
        catch_up: bool = False,
        poll: bool = False,
        poll_interval: float = 2.0,
        coalescer: Coalescer | None = None,
        notifier: OpenNotifier = open_notifier,
    ) -> None:
        self._root = os.path.realpath(root)
        self._on_change, self._on_state = on_change, on_state
        self._ignored = ignored or _nothing_ignored
        self._catch_up, self._poll = catch_up, poll
        self._list_dirs = list_dirs or self._walk
        self._open_notifier = notifier
        self._coalescer = coalescer or Coalescer()
        self._poll_base = self._poll_interval = poll_interval
        self._recursive = sys.platform in ("darwin", "win32")  # one handle a tree there, one watch a folder elsewhere
        self._git = ""
        self._pending = _Pending()
        self._dirs: set[str] = set()
        self._stale: set[str] = set()  # folders to list and watch anew before the next batch
        self._unwatched = 0
        self._notifier: Notifier | None = None
        self._breaks, self._last_break = 0, 0.0
        self._retry_live = 0.0
        self._last_event = time.monotonic()
        self._failures = 0
        self._state = "off"
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> str:
        """``live``, ``polling: <why>`` or ``off``; a failing ``on_change`` is added after a semicolon."""
        return self._state

    @property
    def watched(self) -> int:
        """Folders under watch (0 when polling)."""
        return len(self._dirs) - self._unwatched if self._notifier is not None else 0

    @property
    def unwatched(self) -> int:
        """Folders that cannot be watched: unreadable, or named in no valid Unicode."""
        return self._unwatched

    def start(self, wait: float = 0.0) -> None:
        """Begin; wait up to ``wait`` seconds until the watches stand (reconcile after that and nothing is missed)."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="mog-watch", daemon=True)
            self._thread.start()
        self._ready.wait(wait)

    def stop(self, timeout: float = 2.0) -> None:
        """End the thread; waits at most ``timeout`` seconds for an ``on_change`` that is running."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        self._set_state("off")

    def __enter__(self) -> Self:
        self.start(wait=10.0)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    # -- the thread --

    def _run(self) -> None:
        try:
            self._git = _git_dir(self._root)
            self._go_live()
            self._ready.set()
            if self._catch_up:
                self._deliver(Batch(overflow=True, reason="start"))
            while not self._stop.is_set():
                if self._notifier is None:
                    self._poll_once()
                else:
                    self._live_once(self._notifier)
        except Exception as error:
            self._set_state(f"off: {error}")  # a dead watcher that says "live" would be the worst answer of all
            raise
        finally:
            self._ready.set()
            if self._notifier is not None:
                self._notifier.close()

    def _live_once(self, notifier: Notifier) -> None:
        try:
            raw = notifier.watch(DEBOUNCE_MS, self._step_ms(), self._wait_ms(), self._stop)
        except (OSError, RuntimeError) as error:
            self._recover(error)
            return
        if isinstance(raw, set):
            self._last_event = time.monotonic()
            self._take(raw)
        self._emit_when_due()

    def _step_ms(self) -> int:
        return REST_MS if time.monotonic() - self._last_event > REST_AFTER else STEP_MS

    def _wait_ms(self) -> int:
        due = self._coalescer.due()
        return 5000 if due is None else max(1, int((due - time.monotonic()) * 1000))

    def _take(self, raw: set[tuple[int, str]]) -> None:
        """Sort raw events into what is pending, and count those of interest."""
        marks = sum(self._is_git_mark(path) for _, path in raw)
        taken = sum([self._take_one(change, path) for change, path in raw])
        now = time.monotonic()
        if len(raw) >= FLOOD:
            self._pending.reason = "more events than can be trusted"
        if taken or marks:
            self._coalescer.add(taken + marks, now)
        if marks:
            self._pending.git = True
            self._coalescer.postpone(now + self._coalescer.quiet)

    def _is_git_mark(self, path: str) -> bool:
        return bool(self._git) and os.path.dirname(path) == self._git and os.path.basename(path) in _GIT_MARKS

    def _take_one(self, change: int, path: str) -> bool:
        """Note one event; False when it is of no interest."""
        rel = self._relative(path)
        if rel is None:
            return path == self._root and self._take_root()
        if not _OWN.isdisjoint(rel.split("/")):
            return False
        known = rel in self._dirs
        if _is_dir(path):
            if known and change == _MODIFIED:
                return False
            self._note_dir(rel)
            return True
        if known:
            self._note_dir(rel)
        return known or self._take_file(rel)

    def _take_root(self) -> bool:
        if _is_dir(self._root):
            return False
        self._pending.reason, self._stale = "the folder is gone", {""}
        return True

    def _take_file(self, rel: str) -> bool:
        if self._recursive and os.path.dirname(rel) not in self._dirs:
            return False
        if os.path.basename(rel) in _RULE_FILES:
            self._pending.reason, self._stale = "the rules of what is listed changed", {""}
        self._pending.paths.add(rel)
        return True

    def _note_dir(self, rel: str) -> None:
        self._pending.dirs.add(rel)
        self._stale.add(rel)

    def _relative(self, path: str) -> str | None:
        """Path relative to the root, ``/``-separated; None for the root itself and anything outside it."""
        head = self._root.rstrip(os.sep) + os.sep
        return path[len(head) :].replace(os.sep, "/") if path.startswith(head) else None

    # -- handing on --

    def _emit_when_due(self) -> None:
        due, now = self._coalescer.due(), time.monotonic()
        if due is None or now < due:
            return
        if self._git_at_work():
            self._coalescer.postpone(now + 0.05)
            if (self._coalescer.due() or now) > now:
                return
        known = self._dirs
        if self._stale:
            self._rewatch()
        pending, self._pending = self._pending, _Pending()
        self._coalescer.sent()
        pending.dirs &= known | self._dirs
        pending.paths.difference_update(self._ignored(pending.paths) if pending.paths else ())
        if pending:
            self._deliver(pending.batch())

    def _git_at_work(self) -> bool:
        """Whether git holds the index, and has not held it for too long."""
        if not self._git:
            return False
        try:
            age = time.time() - os.stat(os.path.join(self._git, "index.lock")).st_mtime
        except OSError:
            return False
        return age < GIT_LOCK_PATIENCE

    def _deliver(self, batch: Batch) -> bool:
        """Call the listener. Its failure must not end the watch: it is shown, and the work asked for again later."""
        try:
            changed = bool(self._on_change(batch))
        except Exception as error:
            self._failures += 1
            self._pending.reason = "the last update failed"
            now = time.monotonic()
            self._coalescer.add(1, now)
            self._coalescer.postpone(now + min(30.0, 0.25 * 2**self._failures))
            self._set_state(f"{self._mode()}; last update failed: {error}")
            return False
        if self._failures:
            self._failures = 0
            self._set_state(self._mode())
        return changed

    # -- watches --

    def _walk(self, prefixes: Collection[str]) -> Iterator[str]:
        """All folders at and below ``prefixes``, without following links."""
        stack = [prefix for prefix in prefixes if _is_dir(self._full(prefix))]
        while stack:
            rel = stack.pop()
            yield rel
            for name in _sub_dirs(self._full(rel)):
                child = f"{rel}/{name}" if rel else name
                if name not in _OWN:
                    stack.append(child)

    def _full(self, rel: str) -> str:
        return os.path.join(self._root, *rel.split("/")) if rel else self._root

    def _rewatch(self) -> None:
        """List the stale folders again and watch the new set; once more while folders appear meanwhile."""
        seen: set[str] = set()
        for _ in range(4):
            seen |= self._stale
            wanted = {d for d in self._dirs if d not in seen and not _under(d, seen)}
            wanted.update(self._list_dirs(seen), {""})
            if wanted == self._dirs and self._notifier is not None and self._stale.isdisjoint(self._dirs):
                self._stale = set()
                return
            self._stale, self._dirs = set(), wanted
            if not self._open():
                return
        self._pending.reason = self._pending.reason or "folders kept appearing"
        if self._notifier is None:
            self._fall_back("folders keep vanishing")

    def _go_live(self) -> None:
        """Watch everything from scratch, or fall back to polling and say why."""
        self._retry_live = time.monotonic() + LIVE_RETRY
        silent = _silent_file_system(self._root)
        if self._poll:
            self._fall_back("asked for")
        elif silent:
            self._fall_back(f"{silent} does not report changes")
        else:
            self._stale = {""}
            self._rewatch()

    def _open(self) -> bool:
        """Watch ``self._dirs`` with a new notifier, then drop the old one, so that no moment is unwatched."""
        if not _is_dir(self._root):
            return self._fall_back("the folder is gone")
        try:
            opened = self._open_notifier(self._watch_paths(), self._recursive)
        except FileNotFoundError:  # a folder went between the listing and the watch: list again
            self._stale = {""}
            return True
        except ImportError:
            return self._fall_back("watchfiles is not installed")
        except OSError as error:
            limit = "watch limit" in str(error) or error.errno == 28  # ENOSPC is what inotify answers at the limit
            return self._fall_back("watch limit reached" if limit else str(error))
        old, self._notifier = self._notifier, opened
        self._set_state("live")
        if old is not None:
            self._drain(old)
        return True

    def _watch_paths(self) -> list[str]:
        """Full paths to watch; unreadable folders and names that are no valid Unicode are counted instead."""
        dirs = [""] if self._recursive else sorted(self._dirs)
        paths = [path for path in map(self._full, dirs) if _watchable(path)]
        self._unwatched = len(dirs) - len(paths)
        if self._git and not (self._recursive and self._relative(self._git)):
            paths.append(self._git)
        return paths

    def _drain(self, old: Notifier) -> None:
        try:
            raw = old.watch(1, 1, 1, None)
        except (OSError, RuntimeError):
            self._pending.reason = self._pending.reason or "events were lost"
            raw = None
        old.close()
        if isinstance(raw, set):
            for change, path in raw:
                self._take_one(change, path)

    def _recover(self, error: Exception) -> None:
        """The notifier broke, as it does on a name that is no valid Unicode: ask for everything and open another."""
        if self._notifier is not None:
            self._notifier.close()
        self._notifier = None
        now = time.monotonic()
        self._breaks = self._breaks + 1 if now - self._last_break < 60.0 else 0
        self._last_break = now
        if self._breaks and self._stop.wait(min(30.0, 0.5 * 2**self._breaks)):
            return
        self._pending.reason = f"events were lost: {error}"
        self._coalescer.add(1, time.monotonic())
        self._go_live()

    # -- polling --

    def _fall_back(self, why: str) -> bool:
        if self._notifier is not None:
            self._notifier.close()
        self._notifier, self._stale = None, set()
        if self._mode() != f"polling: {why}":
            self._poll_interval = self._poll_base
            self._set_state(f"polling: {why}")
        return False

    def _poll_once(self) -> None:
        if self._stop.wait(self._poll_interval):
            return
        if not self._poll and time.monotonic() >= self._retry_live:
            self._go_live()
        self._pending = _Pending()
        self._coalescer.sent()
        began = time.perf_counter()
        changed = self._deliver(Batch(overflow=True, reason="polling"))
        cost = time.perf_counter() - began
        self._poll_interval = next_poll(self._poll_interval, cost, changed, self._poll_base)

    def _mode(self) -> str:
        return self._state.partition("; last update failed")[0]

    def _set_state(self, state: str) -> None:
        if state != self._state and (state == "off" or not self._stop.is_set()):
            self._state = state
            if self._on_state is not None:
                self._on_state(state)


def _watchable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return os.access(path, os.R_OK)
