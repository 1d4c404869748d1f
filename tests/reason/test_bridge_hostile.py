"""A hostile clone carries auditors, plans and contracts: nothing of it runs until a person said so, and then only that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from auditing import answering, command_of, declared, script, write_auditors
from bridged import CODE, Clone

from mog.engine.errors import ConfigError
from mog.engine.reason.auditors import FILE, commands_of
from mog.engine.workspace import Workspace

ARGON = CODE["src/auth.py"]
MD5 = ARGON.replace("argon2", "md5")
MARK = "import pathlib\npathlib.Path('ran').touch()\n"


@pytest.fixture
def clone(make_repo: Callable[..., Path]) -> Iterator[Clone]:
    spec = json.dumps({"version": 1, "auditors": [declared()]})
    task = "version: 1\ntasks:\n  - {name: build, argv: [touch, ran]}\n"
    made = Clone(
        make_repo(
            CODE
            | {
                FILE: spec,
                "tools/audit.py": MARK + answering("contradicts"),
                ".mog/plans/build.yaml": task,
                ".mog/contracts/pack.yaml": "rules:\n  - run: [touch, ran]\n",
                ".mog/contracts/pack.py": MARK,
                "mog.yaml": "version: 1\n",
                "conftest.py": MARK,
            }
        )
    )
    yield made
    made.close()


def ran(clone: Clone) -> bool:
    return (clone.root / "ran").exists()


def test_opening_indexing_and_asking_run_nothing(clone: Clone) -> None:
    with Workspace.open(clone.root) as workspace:
        workspace.index(workers=1)
        workspace.search("hash_it")
        workspace.status()
    assert not ran(clone)


def test_recheck_runs_nothing_until_allowed_and_says_what_waits(clone: Clone) -> None:
    belief = clone.belief()
    clone.edit(MD5)
    report = clone.bridge.recheck()
    (waiting,) = report.waiting
    assert (waiting.name, waiting.why, waiting.file) == ("hashing", "new", FILE) and not ran(clone)
    assert report.receipts == () and "mog allow" in report.open[0].why[0]
    assert clone.mesh.stands(belief)
    assert clone.bridge.on_change(at_once=True).recheck is not None and not ran(clone)
    clone.trust.allow(command_of(clone.root), waiting.digest)
    (receipt,) = clone.bridge.recheck().receipts
    assert ran(clone) and receipt.command == waiting.digest and not clone.mesh.stands(belief)


@pytest.mark.parametrize("change", ["script", "argv", "declaration"])
def test_a_changed_command_is_asked_for_again(clone: Clone, change: str) -> None:
    clone.trust.allow(command_of(clone.root))
    if change == "script":
        script(clone.root, MARK + answering("holds"))
    elif change == "argv":
        write_auditors(clone.root, [declared(argv=[sys.executable, "-O", "tools/audit.py"])])
    else:
        write_auditors(clone.root, [declared(timeout=9)])
    belief = clone.belief()
    clone.edit(MD5)
    (waiting,) = clone.bridge.recheck().waiting
    assert waiting.why == "changed" and not ran(clone) and clone.mesh.stands(belief)


def test_one_auditor_that_changes_another_does_not_get_it_run(clone: Clone) -> None:
    script(
        clone.root,
        "import pathlib\npathlib.Path('tools/b.py').write_text('print(1)')\n" + answering("holds"),
        "tools/a.py",
    )
    script(clone.root, MARK, "tools/b.py")
    argv = [[sys.executable, f"tools/{name}.py"] for name in "ab"]
    write_auditors(clone.root, [declared("a", argv[0]), declared("b", argv[1])])
    for command in commands_of(clone.root):
        clone.trust.allow(command)
    clone.belief()
    clone.edit(MD5)
    report = clone.bridge.recheck()
    assert [w.name for w in report.waiting] == ["b"] and not ran(clone) and report.receipts == ()


def test_a_trust_record_that_the_clone_brings_has_no_effect(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.trust.allow(command_of(clone.root))
    planted = clone.root / ".mog" / "trust"
    clone.words.rename(planted)
    clone.trust.folder = planted
    clone.belief()
    clone.edit(MD5)
    assert clone.bridge.recheck().waiting and not ran(clone)


def test_broken_declarations_stop_a_recheck_and_not_the_watcher(clone: Clone) -> None:
    clone.belief()
    (clone.root / FILE).write_text("auditors: [")
    clone.edit(MD5)
    with pytest.raises(ConfigError):
        clone.bridge.recheck()
    report = clone.bridge.on_change(at_once=True)
    assert FILE in report.problem and report.recheck is None and report.drifts
    assert not ran(clone)


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_declarations_behind_a_link_are_not_followed(clone: Clone, tmp_path: Path) -> None:
    away = tmp_path / "away.yaml"
    (clone.root / FILE).rename(away)
    (clone.root / FILE).symlink_to(away)
    clone.belief()
    clone.edit(MD5)
    with pytest.raises(ConfigError, match="symlink"):
        clone.bridge.recheck()


def test_an_allowed_auditor_that_hangs_or_floods_leaves_everything_as_it_was(clone: Clone) -> None:
    script(clone.root, "while True: print('x' * 65536)\n")
    script(clone.root, "import time\ntime.sleep(600)\n", "tools/slow.py")
    slow = declared("slow", [sys.executable, "tools/slow.py"], timeout=1)
    write_auditors(clone.root, [declared(), slow])
    for command in commands_of(clone.root):
        clone.trust.allow(command)
    belief = clone.belief()
    clone.edit(MD5)
    report = clone.bridge.recheck()
    assert [o.auditor for o in report.failed] == ["hashing", "slow"] and report.receipts == ()
    assert clone.mesh.stands(belief) and clone.mesh.judgements(belief) == ()


def test_what_an_auditor_says_is_kept_as_it_was_said(clone: Clone) -> None:
    script(clone.root, answering("contradicts", "bad \x1b[2J\u202e"))
    clone.trust.allow(command_of(clone.root))
    belief = clone.belief()
    clone.edit(MD5)
    clone.bridge.recheck()
    assert clone.judged(belief)[0].reason == "bad \x1b[2J\u202e"


def test_a_credential_in_an_answer_is_not_kept(clone: Clone) -> None:
    token = "AKIA" + "ABCDEFGHIJKLMNOP"
    script(clone.root, answering("contradicts", f"found {token}"))
    clone.trust.allow(command_of(clone.root))
    belief = clone.belief()
    clone.edit(MD5)
    clone.bridge.recheck()
    assert not clone.mesh.stands(belief) and "left out" in clone.judged(belief)[0].reason
    clone.close()
    assert token.encode() not in (clone.root / ".mog" / "ledger.db").read_bytes()


def test_a_project_can_track_its_declarations(clone: Clone) -> None:
    Workspace.init(clone.root)
    done = subprocess.run(["git", "check-ignore", "-q", FILE], cwd=clone.root, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 1
