"""The watcher on real file systems: what it reports, what it keeps quiet about, and when it has to poll."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mog.engine.code import watch
from mog.engine.code.watch import Batch, Watcher
from mog.engine.code.watch_pace import Coalescer, file_system_of, next_poll
from mog.engine.code.watch_scope import Scope

PATIENCE = 10.0


class Feed:
    """Collects batches and lets a test wait for a condition over everything reported so far."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self._news: queue.Queue[Batch] = queue.Queue()

    def __call__(self, batch: Batch) -> None:
        self.batches.append(batch)
        self._news.put(batch)

    def until(self, enough: Callable[[Feed], bool], patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not enough(self):
            try:
                self._news.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"not reported within {patience} s; reported: {self.batches}")

    def quiet(self, seconds: float) -> bool:
        """Whether nothing is reported for that long."""
        before = len(self.batches)
        time.sleep(seconds)
        return len(self.batches) == before

    @property
    def paths(self) -> set[str]:
        return {path for batch in self.batches for path in batch.paths}

    @property
    def dirs(self) -> set[str]:
        return {path for batch in self.batches for path in batch.rescan_dirs}

    def covers(self, path: str) -> bool:
        """Whether a listener that reconciles what it was told has looked at ``path``."""
        under = any(path.startswith(d + "/") for d in self.dirs)
        return path in self.paths or under or any(b.overflow for b in self.batches)


@pytest.fixture
def feed() -> Feed:
    return Feed()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1\n")
    (root / "src" / "deep" / "b.py").write_text("b = 1\n")
    (root / ".mog").mkdir()
    return root


@pytest.fixture
def watched(tree: Path, feed: Feed) -> Iterator[Watcher]:
    with Watcher(tree, feed) as watcher:
        assert watcher.state == "live"
        yield watcher


def git(root: Path, *args: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.invalid"}
    who |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.invalid"}
    command = ["git", "-c", "commit.gpgsign=false", *args]
    subprocess.run(command, cwd=root, check=True, stdin=subprocess.DEVNULL, capture_output=True, env=os.environ | who)


@pytest.fixture
def repo(tree: Path) -> Path:
    git(tree, "init", "-q", "-b", "main")
    (tree / ".gitignore").write_text(".mog/\n")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "one")
    git(tree, "checkout", "-qb", "other")
    for number in range(60):
        (tree / "src" / f"only_{number}.py").write_text(f"x = {number}\n")
    (tree / "src" / "a.py").write_text("a = 2\n")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "two")
    git(tree, "checkout", "-q", "main")
    return tree


class Script:
    """A notifier that plays what a test wrote down: sets of events, or errors to raise."""

    def __init__(self, *moments: object) -> None:
        self.moments = list(moments)
        self.closed = False
        self.steps: list[int] = []

    def watch(self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event | None) -> object:
        self.steps.append(step_ms)
        if self.moments:
            moment = self.moments.pop(0)
            if isinstance(moment, Exception):
                raise moment
            return moment
        if stop_event is not None:
            stop_event.wait(min(timeout_ms, 50) / 1000)
        return "timeout"

    def close(self) -> None:
        self.closed = True


def test_it_wakes_less_often_when_nothing_changed_for_a_while(tree: Path, feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "REST_AFTER", 0.3)
    script = Script()

    def stepped(step: int, since: int) -> bool:
        until = time.monotonic() + PATIENCE
        while step not in script.steps[since:] and time.monotonic() < until:
            time.sleep(0.01)
        return step in script.steps[since:]

    with Watcher(tree, feed, notifier=lambda paths, recursive: script):
        assert script.steps[:1] in ([], [watch.STEP_MS]) and stepped(watch.REST_MS, 0)
        before = len(script.steps)
        script.moments.append({(2, str(tree / "src" / "a.py"))})
        feed.until(lambda f: "src/a.py" in f.paths)
        assert stepped(watch.STEP_MS, before) and stepped(watch.REST_MS, before + 1)


class TestEvents:
    def test_edit_is_reported_alone(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        (tree / "src" / "a.py").write_text("a = 2\n")
        feed.until(lambda f: "src/a.py" in f.paths)
        assert feed.batches[0] == Batch(paths=("src/a.py",))

    def test_add_and_delete(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        (tree / "new.py").write_text("")
        feed.until(lambda f: "new.py" in f.paths)
        (tree / "src" / "a.py").unlink()
        feed.until(lambda f: "src/a.py" in f.paths)

    def test_atomic_replace_names_the_target(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        (tree / "src" / ".a.py.swp").write_text("a = 3\n")
        os.replace(tree / "src" / ".a.py.swp", tree / "src" / "a.py")
        feed.until(lambda f: "src/a.py" in f.paths)

    def test_own_and_git_writes_are_nobodys_news(self, repo: Path, feed: Feed) -> None:
        with Watcher(repo, feed):
            (repo / ".mog" / "index.db").write_bytes(b"x" * 1000)
            (repo / ".mog" / "run").mkdir()
            (repo / ".git" / "objects" / "junk").write_bytes(b"x")
            (repo / ".git" / "FETCH_HEAD").write_bytes(b"x")
            assert feed.quiet(0.5)

    def test_ignored_tree_is_neither_watched_nor_reported(self, tree: Path, feed: Feed) -> None:
        (tree / "node_modules" / "left-pad").mkdir(parents=True)
        with Watcher(tree, feed, list_dirs=Scope(tree).list_dirs) as watcher:
            assert watcher.watched == 3
            (tree / "node_modules" / "left-pad" / "index.js").write_text("x")
            (tree / "node_modules" / "other").mkdir()
            assert feed.quiet(0.4)

    def test_reading_is_no_event(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        (tree / "src" / "a.py").read_text()
        os.listdir(tree / "src")
        assert feed.quiet(0.3)

    def test_link_to_a_folder_is_not_followed(self, tree: Path, feed: Feed, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (tree / "escape").symlink_to(outside)
        with Watcher(tree, feed):
            (outside / "file").write_text("x")
            assert feed.quiet(0.3)

    @pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="such names do not exist there")
    def test_undecodable_name_costs_a_reconcile_not_the_watch(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        Path(os.fsdecode(os.fsencode(tree) + b"/bad\xff.py")).write_text("x = 1\n")
        feed.until(lambda f: any(b.overflow for b in f.batches))
        (tree / "src" / "a.py").write_text("a = 4\n")
        feed.until(lambda f: "src/a.py" in f.paths)
        assert watched.state == "live"

    @pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="such names do not exist there")
    def test_undecodable_folder_is_counted(self, tree: Path, feed: Feed) -> None:
        os.mkdir(os.fsencode(tree) + b"/bad\xff")
        with Watcher(tree, feed) as watcher:
            assert (watcher.state, watcher.unwatched) == ("live", 1)

    def test_ignored_files_make_no_batch(self, repo: Path, feed: Feed) -> None:
        (repo / ".gitignore").write_text(".mog/\n*.log\n")
        scope = Scope(repo)
        with Watcher(repo, feed, list_dirs=scope.list_dirs, ignored=scope.ignored):
            (repo / "build.log").write_text("line\n")
            (repo / "src" / "__pycache__").mkdir()
            (repo / "src" / "__pycache__" / "a.pyc").write_bytes(b"x")
            assert feed.quiet(0.5)
            (repo / "src" / "a.py").write_text("a = 9\n")
            feed.until(lambda f: "src/a.py" in f.paths)
        assert feed.paths == {"src/a.py"}

    def test_asked_to_poll_it_polls(self, tree: Path, feed: Feed) -> None:
        with Watcher(tree, feed, poll=True, poll_interval=0.05) as watcher:
            assert watcher.state == "polling: asked for"
            feed.until(lambda f: len(f.batches) >= 2)

    def test_broken_listing_is_a_visible_end(self, tree: Path, feed: Feed) -> None:
        def broken(prefixes: object) -> list[str]:
            raise ValueError("no list")

        hook, threading.excepthook = threading.excepthook, lambda _: None
        try:
            with Watcher(tree, feed, list_dirs=broken) as watcher:
                assert watcher.state == "off: no list"
        finally:
            threading.excepthook = hook


class TestFolders:
    def test_new_folder_is_watched_before_it_is_reported(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        (tree / "pkg" / "inner").mkdir(parents=True)
        (tree / "pkg" / "inner" / "c.py").write_text("c = 1\n")
        feed.until(lambda f: f.covers("pkg/inner/c.py"))
        feed.batches.clear()
        (tree / "pkg" / "inner" / "c.py").write_text("c = 2\n")
        feed.until(lambda f: "pkg/inner/c.py" in f.paths)

    def test_rename_rescans_the_new_and_drops_the_old(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        os.rename(tree / "src", tree / "lib")
        feed.until(lambda f: {"src", "lib"} <= f.dirs)
        feed.batches.clear()
        (tree / "lib" / "deep" / "b.py").write_text("b = 2\n")
        feed.until(lambda f: "lib/deep/b.py" in f.paths)
        assert not any(path.startswith("src/") for path in feed.paths)

    def test_folder_replaced_under_the_same_name_stays_watched(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        os.rename(tree / "src" / "deep", tree / "gone")
        (tree / "src" / "deep").mkdir()
        feed.until(lambda f: {"src/deep", "gone"} <= f.dirs)
        feed.batches.clear()
        (tree / "src" / "deep" / "z.py").write_text("z = 1\n")
        feed.until(lambda f: "src/deep/z.py" in f.paths)

    def test_moved_outside_is_gone(self, tree: Path, feed: Feed, watched: Watcher, tmp_path: Path) -> None:
        os.rename(tree / "src" / "deep", tmp_path / "elsewhere")
        feed.until(lambda f: "src/deep" in f.dirs)
        feed.batches.clear()
        (tmp_path / "elsewhere" / "b.py").write_text("b = 9\n")
        assert feed.quiet(0.3)

    def test_mass_rename_is_few_batches(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        for number in range(300):
            (tree / "src" / f"m{number}.py").write_text("m = 1\n")
        feed.until(lambda f: f.covers("src/m299.py"))
        time.sleep(1.3)
        feed.batches.clear()
        for number in range(300):
            os.rename(tree / "src" / f"m{number}.py", tree / "src" / f"n{number}.py")
        feed.until(lambda f: all(f.covers(f"src/{k}{n}.py") for k in "mn" for n in range(300)))
        assert len(feed.batches) <= 5

    def test_root_that_goes_is_said(self, tree: Path, feed: Feed, watched: Watcher, tmp_path: Path) -> None:
        os.rename(tree, tmp_path / "away")
        feed.until(lambda f: any(b.overflow for b in f.batches))
        assert watched.state == "polling: the folder is gone"


class TestBursts:
    def test_five_thousand_files(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        names = [f"src/f{number}.py" for number in range(5000)]
        for name in names:
            (tree / name).write_text("f = 1\n")
        feed.until(lambda f: all(f.covers(name) for name in names), patience=30.0)
        assert len(feed.batches) <= 12
        assert feed.quiet(0.5), "a dirty tree is quiet"

    def test_flood_asks_for_everything(self, tree: Path, feed: Feed) -> None:
        flood = {(1, os.path.join(os.path.realpath(tree), f"x{n}")) for n in range(watch.FLOOD)}
        with Watcher(tree, feed, notifier=lambda paths, recursive: Script(flood)):
            feed.until(lambda f: any(b.overflow for b in f.batches))

    def test_ignore_rules_that_change_ask_for_everything(self, tree: Path, feed: Feed, watched: Watcher) -> None:
        (tree / ".mogignore").write_text("src/\n")
        feed.until(lambda f: any(b.overflow for b in f.batches))


class TestGit:
    def test_branch_switch_is_one_batch(self, repo: Path, feed: Feed) -> None:
        with Watcher(repo, feed):
            git(repo, "checkout", "-q", "other")
            feed.until(lambda f: any(b.git for b in f.batches))
            assert feed.quiet(0.6)
        assert len(feed.batches) == 1
        assert {"src/a.py", "src/only_59.py"} <= feed.paths

    def test_nothing_goes_out_while_git_holds_its_lock(self, repo: Path, feed: Feed) -> None:
        with Watcher(repo, feed):
            (repo / ".git" / "index.lock").write_bytes(b"")
            (repo / "src" / "a.py").write_text("a = 7\n")
            assert feed.quiet(0.5)
            os.replace(repo / ".git" / "index.lock", repo / ".git" / "index")
            feed.until(lambda f: "src/a.py" in f.paths)

    def test_lock_left_by_a_dead_git_holds_nothing_back(self, repo: Path, feed: Feed) -> None:
        (repo / ".git" / "index.lock").write_bytes(b"")
        os.utime(repo / ".git" / "index.lock", (1, 1))
        with Watcher(repo, feed):
            (repo / "src" / "a.py").write_text("a = 7\n")
            feed.until(lambda f: "src/a.py" in f.paths)

    def test_linked_worktree_watches_its_own_head(self, repo: Path, feed: Feed, tmp_path: Path) -> None:
        linked = tmp_path / "linked"
        git(repo, "worktree", "add", "-q", str(linked), "other")
        with Watcher(linked, feed):
            git(linked, "commit", "-q", "--allow-empty", "-am", "three")
            git(linked, "checkout", "-q", "--detach", "main")
            feed.until(lambda f: any(b.git for b in f.batches))


class TestFallBack:
    def test_watch_limit_is_said_and_polled(self, tree: Path, feed: Feed) -> None:
        states: list[str] = []

        def refuse(paths: list[str], recursive: bool) -> watch.Notifier:
            raise OSError("OS file watch limit reached. about [...]")

        with Watcher(tree, feed, notifier=refuse, poll_interval=0.05, on_state=states.append) as watcher:
            assert watcher.state == "polling: watch limit reached"
            feed.until(lambda f: len(f.batches) >= 2)
        assert states == ["polling: watch limit reached", "off"]
        assert all(batch.overflow and batch.reason == "polling" for batch in feed.batches)

    def test_limit_reached_later_falls_back_too(self, tree: Path, feed: Feed) -> None:
        opened: list[Script] = []

        def twice(paths: list[str], recursive: bool) -> watch.Notifier:
            if opened:
                raise OSError(28, "No space left on device")
            opened.append(Script({(1, os.path.join(os.path.realpath(tree), "src"))}))
            return opened[0]

        with Watcher(tree, feed, notifier=twice, poll_interval=0.05) as watcher:
            feed.until(lambda f: any(b.reason == "polling" for b in f.batches))
            assert watcher.state == "polling: watch limit reached"
        assert opened[0].closed

    def test_polling_is_left_when_watches_can_be_had(
        self, tree: Path, feed: Feed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tries = iter([OSError("OS file watch limit reached")])

        def later(paths: list[str], recursive: bool) -> watch.Notifier:
            for error in tries:
                raise error
            return watch.open_notifier(paths, recursive)

        monkeypatch.setattr(watch, "LIVE_RETRY", 0.0)
        with Watcher(tree, feed, notifier=later, poll_interval=0.05) as watcher:
            feed.until(lambda f: len(f.batches) == 1)
            assert watcher.state == "live"

    def test_broken_notifier_is_replaced(self, tree: Path, feed: Feed) -> None:
        opened: list[Script] = []

        def fragile(paths: list[str], recursive: bool) -> watch.Notifier:
            opened.append(Script(*([] if opened else [RuntimeError("lost it")])))
            return opened[-1]

        with Watcher(tree, feed, notifier=fragile) as watcher:
            feed.until(lambda f: any(b.overflow for b in f.batches))
            assert watcher.state == "live"
        assert [script.closed for script in opened] == [True, True]

    def test_network_file_system_is_polled(self, tree: Path, feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch, "_silent_file_system", lambda root: "nfs4")
        with Watcher(tree, feed) as watcher:
            assert watcher.state == "polling: nfs4 does not report changes"

    def test_failing_listener_is_shown_and_asked_again(self, tree: Path) -> None:
        batches: list[Batch] = []
        states: list[str] = []

        def listener(batch: Batch) -> None:
            batches.append(batch)
            if len(batches) == 1:
                raise ValueError("the index is held")

        with Watcher(tree, listener, on_state=states.append):
            (tree / "src" / "a.py").write_text("a = 5\n")
            deadline = time.monotonic() + PATIENCE
            while len(batches) < 2 and time.monotonic() < deadline:
                time.sleep(0.02)
        assert [batch.overflow for batch in batches] == [False, True]
        assert states == ["live", "live; last update failed: the index is held", "live", "off"]

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify and user namespaces are Linux")
    def test_real_watch_limit(self, tree: Path) -> None:
        script = (
            "import sys; from mog.engine.code.watch import Watcher\n"
            "with Watcher(sys.argv[1], print) as w: print(w.state)"
        )
        lower = 'echo 2 > /proc/sys/user/max_inotify_watches && exec "$0" -c "$1" "$2"'
        command = ["unshare", "-Ur", "sh", "-c", lower, sys.executable, script, str(tree)]
        try:
            done = subprocess.run(
                command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
            )
        except FileNotFoundError:
            pytest.skip("no unshare here")
        if done.returncode and "unshare" in done.stderr:
            pytest.skip("user namespaces are not allowed here")
        assert done.stdout.splitlines() == ["polling: watch limit reached"], done.stderr


class TestLifeCycle:
    def test_catching_up_comes_first_and_on_its_own_thread(self, tree: Path, feed: Feed) -> None:
        threads: list[str] = []

        def listener(batch: Batch) -> None:
            threads.append(threading.current_thread().name)
            feed(batch)

        with Watcher(tree, listener, catch_up=True):
            feed.until(lambda f: len(f.batches) == 1)
            assert feed.quiet(0.2)
        assert feed.batches == [Batch(overflow=True, reason="start")]
        assert threads == ["mog-watch"]

    def test_stop_is_quick_and_final(self, tree: Path, feed: Feed) -> None:
        watcher = Watcher(tree, feed)
        watcher.start(wait=10.0)
        began = time.monotonic()
        watcher.stop()
        assert time.monotonic() - began < 1.5
        (tree / "src" / "a.py").write_text("a = 8\n")
        assert feed.quiet(0.3)
        assert watcher.state == "off"

    def test_stop_from_its_own_callback(self, tree: Path) -> None:
        done = threading.Event()
        holder: list[Watcher] = []

        def listener(batch: Batch) -> None:
            holder[0].stop()
            done.set()

        holder.append(Watcher(tree, listener))
        holder[0].start(wait=10.0)
        (tree / "src" / "a.py").write_text("a = 8\n")
        assert done.wait(PATIENCE)

    def test_idle_costs_next_to_nothing_on_a_dirty_tree(self, repo: Path, feed: Feed) -> None:
        for number in range(200):
            (repo / "src" / f"dirty_{number}.py").write_text("d = 1\n")
        with Watcher(repo, feed):
            time.sleep(0.3)
            began = time.process_time()
            time.sleep(2.0)
            share = (time.process_time() - began) / 2.0
        assert feed.batches == []
        assert share < 0.05, "one wake-up in 10 ms is far below this; a rescan loop is far above"


class TestCoalescer:
    def test_single_event_is_due_at_once(self) -> None:
        timing = Coalescer()
        timing.add(1, 10.0)
        assert timing.due() == 10.0

    def test_few_events_in_a_row_are_each_due_at_once(self) -> None:
        timing = Coalescer(burst=16)
        for moment in (10.0, 10.01, 10.02):
            timing.add(3, moment)
            assert timing.due() == moment
            timing.sent()

    def test_burst_waits_for_quiet(self) -> None:
        timing = Coalescer(burst=4, quiet=0.2, longest=1.0)
        timing.add(5, 10.0)
        assert timing.due() == pytest.approx(10.2)
        timing.add(1, 10.1)
        assert timing.due() == pytest.approx(10.3)

    def test_burst_never_waits_longer_than_longest(self) -> None:
        timing = Coalescer(burst=4, quiet=0.2, longest=1.0)
        for step in range(30):
            timing.add(5, 10.0 + step * 0.1)
        assert timing.due() == pytest.approx(11.0)

    def test_after_a_calm_window_the_next_is_immediate_again(self) -> None:
        timing = Coalescer(burst=4, window=1.0)
        timing.add(50, 10.0)
        timing.sent()
        timing.add(1, 10.5)
        assert timing.due() == pytest.approx(10.7)
        timing.sent()
        timing.add(1, 12.0)
        assert timing.due() == 12.0

    def test_postponing_has_an_end(self) -> None:
        timing = Coalescer(patience=5.0)
        timing.add(1, 10.0)
        timing.postpone(11.0)
        assert timing.due() == 11.0
        timing.postpone(100.0)
        assert timing.due() == 15.0

    def test_nothing_pending_is_never_due(self) -> None:
        assert Coalescer().due() is None


class TestPolling:
    def test_interval_doubles_to_where_idle_costs_under_one_percent(self) -> None:
        interval, cost = 2.0, 0.3
        for _ in range(20):
            interval = next_poll(interval, cost, changed=False, base=2.0)
        assert 0 < cost / interval < 0.01

    def test_cheap_poll_stays_at_its_base(self) -> None:
        assert next_poll(2.0, 0.001, changed=False, base=2.0) == 2.0

    def test_change_brings_it_back(self) -> None:
        assert next_poll(60.0, 0.3, changed=True, base=2.0) == 2.0

    def test_file_system_of_the_longest_mount(self) -> None:
        table = (
            "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
            "21 20 0:40 / /home/me rw,nosuid shared:1 - nfs4 server:/me rw\n"
            "22 20 0:41 / /home/me/with\\040space rw - cifs //server/x rw\n"
        )
        asked = ("/etc", "/home/me/x", "/home/me2", "/home/me/with space/y")
        assert [file_system_of(path, table) for path in asked] == ["ext4", "nfs4", "ext4", "cifs"]
