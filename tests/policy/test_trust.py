"""Trust: nothing is allowed until a person said so, for exactly what was shown, outside the repository."""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from auditing import KEY, command_of, declared, script, store, write_auditors

from mog.engine.errors import HeldByOther, PolicyDenied, StoreDamaged
from mog.engine.policy.trust import MAX_WORDS, Command, TrustStore, default_folder, inspect
from mog.engine.store.lock import WriterLock

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX modes and links")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    clone = tmp_path / "clone"
    (clone / ".git").mkdir(parents=True)
    script(clone, "print(1)\n")
    write_auditors(clone, [declared()])
    return clone


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "words"


def test_nothing_is_allowed_at_first_and_asking_writes_nothing(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    assert not trust.is_allowed(command)
    (waiting,) = trust.waiting([command])
    assert (waiting.why, waiting.name, waiting.argv) == ("new", "hashing", command.argv)
    assert trust.words() == () and trust.revoke("hashing") == 0
    assert not folder.exists()


def test_a_word_lets_exactly_that_command_run(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    waited = trust.allow(command)
    assert waited is not None and waited.digest == trust.require(command).digest
    assert trust.waiting([command]) == [] and store(root, folder).is_allowed(command)
    assert trust.allow(command) is None  # a second word adds nothing
    assert len(trust.words()) == 1


def test_what_is_not_allowed_says_the_way_out(root: Path, folder: Path) -> None:
    with pytest.raises(PolicyDenied, match="mog allow") as caught:
        store(root, folder).require(command_of(root))
    assert caught.value.exit_code == 6 and "hashing" in caught.value.what


def test_a_changed_script_needs_a_new_word(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    script(root, "print(2)\n")
    (waiting,) = trust.waiting([command])
    assert (waiting.why, waiting.changed) == ("changed", ("tools/audit.py",))
    with pytest.raises(PolicyDenied, match="changed since it was allowed"):
        trust.require(command)
    script(root, "print(1)\n")
    assert trust.is_allowed(command)  # the very form that was allowed


@pytest.mark.parametrize(
    "change",
    [
        {"argv": [sys.executable, "-I", "tools/audit.py"]},
        {"argv": [sys.executable, "tools/audit.py", "--fast"]},
        {"timeout": 5},
        {"judges": {"locators": ["sym:*"]}},
        {"env": ["TOKEN"]},
        {"cwd": "tools"},
        {"covers": ["tools/audit.py"]},
        {"verdict": "exit"},
    ],
    ids=str,
)
def test_a_changed_declaration_needs_a_new_word(root: Path, folder: Path, change: dict[str, object]) -> None:
    trust = store(root, folder)
    trust.allow(command_of(root))
    write_auditors(root, [declared(**change)])  # type: ignore[arg-type]
    (waiting,) = trust.waiting([command_of(root)])
    assert waiting.why == "changed" and "the declaration" in waiting.changed


@pytest.mark.parametrize(
    ("argv", "touched"),
    [
        (["python3", "tools/audit.py"], "tools/audit.py"),
        (["python3", "./tools/../tools/audit.py"], "tools/audit.py"),
        (["sh", "-c", "true", "--conf=tools/conf.ini"], "tools/conf.ini"),
        (["python3", "@tools/conf.ini"], "tools/conf.ini"),
        (["pytest", "tools/audit.py::test_x"], "tools/audit.py"),
        (["python3", "-m", "tools.audit"], "tools/audit.py"),
        (["python3", "-m", "tools"], "tools/__main__.py"),
        (["python3", "tools"], "tools/__main__.py"),
        (["./tools/run"], "tools/run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_every_way_to_name_a_file_is_seen(root: Path, folder: Path, argv: list[str], touched: str) -> None:
    for name in ("tools/conf.ini", "tools/__main__.py", "tools/run"):
        script(root, "one\n", name)
    command = Command("auditor", "x", "f.yaml", tuple(argv))
    trust = store(root, folder)
    trust.allow(command)
    (root / touched).write_text("two\n")
    assert not trust.is_allowed(command)


def test_a_file_that_appears_under_a_named_path_is_a_change(root: Path, folder: Path) -> None:
    command = Command("auditor", "x", "f.yaml", ("python3", "-m", "pytest"))
    trust = store(root, folder)
    trust.allow(command)
    script(root, "import os\n", "pytest.py")
    assert not trust.is_allowed(command)


def test_names_are_looked_for_from_the_working_folder_too(root: Path, folder: Path) -> None:
    command = Command("auditor", "x", "f.yaml", ("python3", "audit.py"), cwd="tools")
    trust = store(root, folder)
    trust.allow(command)
    script(root, "print(2)\n")
    assert not trust.is_allowed(command)


def test_covered_files_count_and_must_be_there(root: Path, folder: Path) -> None:
    script(root, "x = 1\n", "tools/lib.py")
    command = replace(command_of(root), covers=("tools/lib.py",))
    trust = store(root, folder)
    trust.allow(command)
    script(root, "x = 2\n", "tools/lib.py")
    assert trust.waiting([command])[0].changed == ("tools/lib.py",)
    (root / "tools/lib.py").unlink()
    (waiting,) = trust.waiting([command])
    assert waiting.digest == "" and "covers" in waiting.changed[0]
    with pytest.raises(PolicyDenied):
        trust.allow(command)


def test_a_program_of_the_repository_on_path_is_covered(
    root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = script(root, "#!/bin/sh\n", "bin/lint-it")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(root / "bin"), os.environ["PATH"]]))
    command = Command("auditor", "x", "f.yaml", ("lint-it",))
    assert set(inspect(root, command).files) == {"bin/lint-it"}


@posix
def test_a_link_bent_to_another_file_is_a_change(root: Path, folder: Path, tmp_path: Path) -> None:
    for name in ("good.py", "evil.py"):
        script(root, "print(1)\n", name)  # the same bytes: only where the link leads differs
    link = root / "tools/link.py"
    link.symlink_to("../good.py")
    command = Command("auditor", "x", "f.yaml", ("python3", "tools/link.py"))
    trust = store(root, folder)
    trust.allow(command)
    link.unlink()
    link.symlink_to("../evil.py")
    assert not trust.is_allowed(command)
    outside = tmp_path / "outside.py"
    outside.write_text("print(1)\n")
    link.unlink()
    link.symlink_to(outside)
    trust.allow(command)
    outside.write_text("print(2)\n")
    assert not trust.is_allowed(command)


@posix
def test_a_pipe_in_place_of_the_script_is_refused_not_waited_for(root: Path, folder: Path) -> None:
    (root / "tools/audit.py").unlink()
    os.mkfifo(root / "tools/audit.py")
    (waiting,) = store(root, folder).waiting([command_of(root)])
    assert waiting.digest == "" and "plain file" in waiting.changed[0]


def test_a_word_for_one_kind_file_or_name_is_none_for_another(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    for other in (replace(command, kind="task"), replace(command, file="plan.yaml"), replace(command, name="other")):
        assert not trust.is_allowed(other)
        assert trust.waiting([other])[0].why == "new"


def test_what_changed_since_it_was_shown_is_not_allowed(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    (waiting,) = trust.waiting([command])
    script(root, "print(2)\n")
    with pytest.raises(PolicyDenied, match="since it was shown"):
        trust.allow(command, waiting.digest)
    assert not trust.is_allowed(command)


def test_a_word_is_taken_back(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    assert trust.revoke("hashing", "task") == 0 and trust.revoke("other") == 0
    assert trust.revoke("hashing") == 1
    assert not trust.is_allowed(command) and trust.waiting([command])[0].why == "new"


def test_only_so_many_forms_of_one_command_are_remembered(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    for number in range(MAX_WORDS + 1):
        script(root, f"print({number})\n")
        trust.allow(command)
    assert len(trust.words()) == MAX_WORDS and trust.is_allowed(command)
    script(root, "print(0)\n")
    assert not trust.is_allowed(command)


# which clone


def test_another_clone_at_the_same_path_starts_with_nothing(root: Path, folder: Path) -> None:
    store(root, folder).allow(command_of(root))
    assert not store(root, folder, key=KEY[::-1]).is_allowed(command_of(root))
    store(root, folder, key=KEY[::-1]).allow(command_of(root))
    assert not store(root, folder).is_allowed(command_of(root))  # nor does the old one get its word back


def test_another_clone_at_another_path_starts_with_nothing(root: Path, folder: Path, tmp_path: Path) -> None:
    store(root, folder).allow(command_of(root))
    other = tmp_path / "again"
    root.rename(other)
    assert not store(other, folder).is_allowed(command_of(other))


def test_worktrees_of_one_clone_share_words_and_each_is_read_for_itself(
    root: Path, folder: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    script(second, "print(1)\n")
    write_auditors(second, [declared()])
    common = root / ".git"
    store(root, folder).allow(command_of(root))
    linked = store(second, folder, common=common)
    assert linked.is_allowed(command_of(second))
    script(second, "print('other branch')\n")
    assert not linked.is_allowed(command_of(second)) and store(root, folder).is_allowed(command_of(root))


# where the record lies


@pytest.mark.parametrize("place", ["trust", ".mog/trust", ".git/trust"])
def test_a_record_inside_the_repository_has_no_effect(root: Path, tmp_path: Path, place: str) -> None:
    away = tmp_path / "words"
    store(root, away).allow(command_of(root))
    planted = root / place
    planted.mkdir(parents=True)
    for file in away.iterdir():
        (planted / file.name).write_bytes(file.read_bytes())
        (planted / file.name).chmod(0o600)
    planted.chmod(0o700)
    trust = store(root, planted)
    assert not trust.is_allowed(command_of(root)) and trust.words() == ()
    with pytest.raises(PolicyDenied, match="MOG_TRUST_DIR"):
        trust.allow(command_of(root))


@posix
def test_a_link_into_the_repository_is_seen_through(root: Path, tmp_path: Path) -> None:
    (root / "trust").mkdir()
    link = tmp_path / "looks-fine"
    link.symlink_to(root / "trust")
    with pytest.raises(PolicyDenied):
        store(root, link).allow(command_of(root))


@posix
def test_the_record_is_private_and_links_are_refused(root: Path, folder: Path, tmp_path: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    (record,) = folder.glob("*.json")
    assert stat.S_IMODE(record.stat().st_mode) == 0o600 and stat.S_IMODE(folder.stat().st_mode) == 0o700
    elsewhere = tmp_path / "elsewhere.json"
    record.rename(elsewhere)
    record.symlink_to(elsewhere)
    with pytest.raises(StoreDamaged, match="link"):
        trust.is_allowed(command)
    with pytest.raises(StoreDamaged):
        trust.allow(command)
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(StoreDamaged):
        store(root, link).allow(command)


@posix
@pytest.mark.parametrize("which", ["record", "folder"])
def test_what_others_may_write_is_not_believed(root: Path, folder: Path, which: str) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    (record,) = folder.glob("*.json")
    (record if which == "record" else folder).chmod(0o666 if which == "record" else 0o777)
    with pytest.raises(StoreDamaged, match="others"):
        trust.is_allowed(command)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema":"mog.trust","version":2}', '{"a":' * 500, "\xff"])
def test_a_damaged_record_allows_nothing(root: Path, folder: Path, text: str) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    (record,) = folder.glob("*.json")
    record.write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreDamaged, match="mog allow"):
        trust.is_allowed(command)


def test_every_single_flip_of_a_digest_loses_the_word(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    (record,) = folder.glob("*.json")
    whole = json.loads(record.read_bytes())
    for words in whole["allowed"].values():
        words[0]["digest"] = words[0]["digest"][:-1] + ("0" if words[0]["digest"][-1] != "0" else "1")
    record.write_text(json.dumps(whole))
    assert not trust.is_allowed(command)


def test_two_who_give_a_word_at_once_do_not_lose_one(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    (record,) = folder.glob("*.json")
    with WriterLock(folder / f"{record.name}.lock"), pytest.raises(HeldByOther):
        trust.allow(replace(command, name="second"))


def test_what_a_crash_left_behind_does_not_stand_in_the_way(root: Path, folder: Path) -> None:
    trust, command = store(root, folder), command_of(root)
    trust.allow(command)
    (record,) = folder.glob("*.json")
    (folder / f"{record.name}.new").write_text("half")
    trust.allow(replace(command, name="second"))
    assert len(trust.words()) == 2 and sorted(p.suffix for p in folder.iterdir()) == [".json", ".lock"]


def test_the_folder_comes_from_the_variable_or_the_person(tmp_path: Path) -> None:
    assert default_folder({"MOG_TRUST_DIR": str(tmp_path)}) == tmp_path
    assert default_folder({}).name == "trust" and "mog" in default_folder({}).parts


def test_the_key_is_asked_for_only_when_there_is_a_record(root: Path, folder: Path) -> None:
    def key() -> bytes:
        raise AssertionError("asked")

    trust = TrustStore(root, root / ".git", key, folder)
    assert not trust.is_allowed(command_of(root)) and trust.waiting([command_of(root)])


@posix
def test_a_repository_with_a_path_that_is_not_utf8(tmp_path: Path, folder: Path) -> None:
    clone = tmp_path / os.fsdecode(b"cl\xffone")
    (clone / ".git").mkdir(parents=True)
    script(clone, "print(1)\n", os.fsdecode(b"tools/a\xfe.py"))
    command = Command("auditor", "x", "f.yaml", ("python3", "tools"), covers=(os.fsdecode(b"tools/a\xfe.py"),))
    with pytest.raises(Exception, match="Unicode"):
        inspect(clone, command)  # a declaration is always valid Unicode; such a file is named by its folder
    command = replace(command, covers=())
    store(clone, folder).allow(command)
    assert store(clone, folder).is_allowed(command)
