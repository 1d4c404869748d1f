"""Auditors: how they are declared, registered, matched and asked, and what happens when one misbehaves."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from auditing import answering, command_of, declared, only, request, script, store, write_auditors

from mog.engine.errors import ConfigError, PolicyDenied, UsageError
from mog.engine.policy import commands
from mog.engine.reason.auditors import (
    FILE,
    AuditorRegistry,
    AuditRequest,
    AuditVerdict,
    Judges,
    Outcome,
    ask,
    load,
    sound_name,
)

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX process groups")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    clone = tmp_path / "clone"
    (clone / ".git").mkdir(parents=True)
    return clone


def answer(root: Path, body: str, **more: Any) -> Outcome:
    """Declare a script, allow it, and ask it."""
    script(root, body)
    write_auditors(root, [declared(**more)])
    trust = store(root, root.parent / "words")
    trust.allow(command_of(root))
    return ask(only(root), request(), root, trust)


# declarations


def test_a_clone_without_the_file_declares_none(root: Path) -> None:
    assert load(root) == ()


def test_a_declaration_is_read_whole(root: Path) -> None:
    spec = declared(timeout=3, cwd="tools", env=["CI"], covers=["a.py"], verdict="exit")
    spec["judges"] = {"targets": ["argon2 is safe"], "kinds": ["drift"]}
    write_auditors(root, [spec])
    auditor = only(root)
    assert (auditor.timeout, auditor.env, auditor.by_exit) == (3.0, ("CI",), True)
    assert auditor.judges == Judges(("argon2 is safe",), (), ("drift",))
    assert command_of(root).cwd == "tools" and command_of(root).covers == ("a.py",)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("version: 2\nauditors: []", "version"),
        ("auditors: []", "version"),
        ("version: 1\nauditor: []", "nearest is auditors"),
        ("version: 1\nauditors: {}", "auditors"),
        ("- 1", "mapping"),
        ("version: 1\nauditors: [7]", "auditors[0]"),
        ("version: 1\nauditors: [{name: a, argv: [x]}]", "auditors[0].judges"),
        ("version: 1\nauditors: [{name: a, argv: [x], judges: {}}]", "auditors[0].judges"),
        ("version: 1\nauditors: [{name: a, argv: [x], judges: {locator: ['*']}}]", "nearest is locators"),
        ("version: 1\nauditors: [{name: a, arg: [x], judges: {locators: ['*']}}]", "nearest is argv"),
        ("version: 1\nauditors: [{name: a, argv: [], judges: {locators: ['*']}}]", "auditors[0].argv"),
        ("version: 1\nauditors: [{name: a, argv: 'rm -rf x', judges: {locators: ['*']}}]", "auditors[0].argv"),
        ("version: 1\nauditors: [{name: a, argv: [1], judges: {locators: ['*']}}]", "auditors[0].argv"),
        ('version: 1\nauditors: [{name: a, argv: ["a\\0b"], judges: {locators: ["*"]}}]', "auditors[0].argv"),
        ("version: 1\nauditors: [{name: person, argv: [x], judges: {locators: ['*']}}]", "auditors[0].name"),
        ("version: 1\nauditors: [{name: a b, argv: [x], judges: {locators: ['*']}}]", "auditors[0].name"),
        ('version: 1\nauditors: [{name: "a\\u202Eb", argv: [x], judges: {locators: ["*"]}}]', "auditors[0].name"),
        ("version: 1\nauditors: [{name: a, argv: [x], judges: {locators: ['*']}, cwd: ../up}]", "auditors[0].cwd"),
        ("version: 1\nauditors: [{name: a, argv: [x], judges: {locators: ['*']}, cwd: /etc}]", "auditors[0].cwd"),
        ("version: 1\nauditors: [{name: a, argv: [x], judges: {locators: ['*']}, timeout: .nan}]", "timeout"),
        ("version: 1\nauditors: [{name: a, argv: [x], judges: {locators: ['*']}, timeout: true}]", "timeout"),
        ("version: 1\nauditors: [{name: a, argv: [x], judges: {locators: ['*']}, verdict: perhaps}]", "verdict"),
        ("version: 1\nversion: 1\nauditors: []", "twice"),
        ("version: 1\nauditors: [&a {name: a, argv: [x], judges: {locators: ['*']}}, *a]", "aliases"),
        ("version: 1\nauditors: !!python/object/apply:os.system [true]", "constructor"),
        ("version: 1\nauditors: " + "[" * 500 + "]" * 500, "deep"),
        ("version: 1\nauditors: [}", "expected"),
        ("version: 1\nauditors: []\n---\nversion: 1", "document"),
        ("version: 1\nauditors: []\n#" + "x" * 300_000, "too_large"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else value,
)
def test_a_mistake_names_file_and_field(root: Path, text: str, named: str) -> None:
    (root / FILE).parent.mkdir(parents=True)
    (root / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(root)
    assert FILE in str(caught.value) and named in str(caught.value) and caught.value.way_out


def test_two_of_one_name_are_refused(root: Path) -> None:
    write_auditors(root, [declared("a"), declared("a")])
    with pytest.raises(ConfigError, match="twice"):
        load(root)


def test_bytes_that_are_not_utf8_are_refused(root: Path) -> None:
    (root / FILE).parent.mkdir(parents=True)
    (root / FILE).write_bytes(b"version: 1 # \xff\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        load(root)


@posix
@pytest.mark.parametrize("at", [FILE, ".mog/plans", ".mog"])
def test_declarations_behind_a_link_are_refused(root: Path, tmp_path: Path, at: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_auditors(elsewhere, [declared()])
    (root / at).parent.mkdir(parents=True, exist_ok=True)
    (root / at).symlink_to(elsewhere / at)
    with pytest.raises(ConfigError):
        load(root)


# functions


def holds(_: AuditRequest) -> AuditVerdict:
    return AuditVerdict("holds", "fine")


@pytest.mark.parametrize("name", ["", "person", "a b", "a\nb", "a\x00", "a\u202eb", "x" * 129, 7])
def test_a_name_that_cannot_be_typed_is_refused(name: Any) -> None:
    assert name == "person" or not sound_name(name)
    with pytest.raises(UsageError):
        AuditorRegistry().register(name, holds)


def test_a_function_is_registered_once(root: Path) -> None:
    registry = AuditorRegistry()
    registry.register("hashing", holds)
    with pytest.raises(UsageError, match="already"):
        registry.register("hashing", holds)
    with pytest.raises(UsageError, match="callable"):
        registry.register("other", "os.system")  # type: ignore[arg-type]
    assert registry.names() == ("hashing",)


def test_a_declared_command_does_not_take_the_place_of_a_function(root: Path) -> None:
    registry = AuditorRegistry()
    registry.register("hashing", holds)
    write_auditors(root, [declared("hashing")])
    with pytest.raises(ConfigError, match="registered"):
        registry.joined(load(root))
    write_auditors(root, [declared("zeta"), declared("alpha")])
    assert [one.name for one in registry.joined(load(root))] == ["alpha", "hashing", "zeta"]


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        (Judges(locators=("*",)), True),
        (Judges(locators=("sym:src/*",)), True),
        (Judges(locators=("sym:SRC/*",)), False),
        (Judges(locators=("file:*",)), False),
        (Judges(targets=("argon2 is safe",)), True),
        (Judges(targets=("a1",)), True),
        (Judges(targets=("argon2",)), False),
        (Judges(locators=("*",), kinds=("drift", "failure")), True),
        (Judges(locators=("*",), kinds=("failure",)), False),
        (Judges(), False),
    ],
)
def test_who_judges_what(judges: Judges, expected: bool) -> None:
    assert judges.covers(request()) is expected


@pytest.mark.parametrize(
    "function",
    [
        lambda _: 1 / 0,
        lambda _: sys.exit(0),
        lambda _: None,
        lambda _: True,
        lambda _: AuditVerdict("disproved"),
        lambda _: AuditVerdict("contradicts", 7),  # type: ignore[arg-type]
        lambda _: AuditVerdict("contradicts", "\udc80"),
    ],
)
def test_a_function_that_misbehaves_fails_its_judgement_only(root: Path, function: Any) -> None:
    registry = AuditorRegistry()
    registry.register("odd", function)
    outcome = ask(registry.joined(())[0], request(), root, store(root, root.parent / "words"))
    assert outcome.verdict == "failed" and outcome.reason


# commands


def test_a_command_that_nobody_allowed_is_not_run(root: Path) -> None:
    script(root, "import pathlib\npathlib.Path('ran').touch()\n")
    write_auditors(root, [declared()])
    with pytest.raises(PolicyDenied, match="mog allow"):
        ask(only(root), request(), root, store(root, root.parent / "words"))
    assert not (root / "ran").exists()


@pytest.mark.parametrize("verdict", ["contradicts", "holds", "unknown"])
def test_a_verdict_comes_back_with_its_reason_and_the_digest_of_what_ran(root: Path, verdict: str) -> None:
    outcome = answer(root, answering(verdict, "weil so: ü"))
    assert (outcome.auditor, outcome.verdict, outcome.reason) == ("hashing", verdict, "weil so: ü")
    (word,) = store(root, root.parent / "words").words()
    assert outcome.command == word.digest


def test_a_command_is_told_what_it_judges(root: Path) -> None:
    body = "import json, sys\nprint(json.dumps({'verdict': 'holds', 'reason': sys.stdin.read()}))\n"
    told = json.loads(answer(root, body).reason)
    assert told["schema"] == "mog.audit" and told["worktree"] == "main"
    assert told["target"]["label"] == "argon2 is safe" and told["evidence"]["kind"] == "drift"
    assert told["anchor"]["old"] == "0" * 32 and told["anchor"]["new"] == "1" * 32


@pytest.mark.parametrize(("code", "verdict"), [(0, "holds"), (1, "contradicts"), (2, "failed"), (77, "failed")])
def test_silence_answers_with_the_exit_code(root: Path, code: int, verdict: str) -> None:
    assert answer(root, f"import sys\nprint('why', file=sys.stderr)\nsys.exit({code})\n").verdict == verdict


def test_exit_codes_count_alone_where_that_is_declared(root: Path) -> None:
    outcome = answer(root, "import sys\nprint('chatter')\nprint('2 failed')\nsys.exit(1)\n", verdict="exit")
    assert (outcome.verdict, outcome.reason) == ("contradicts", "2 failed")


@pytest.mark.parametrize(
    "body",
    [
        "print('all fine')",
        "print('{}')",
        "print('[]')",
        "print('null')",
        'print(\'{"verdict": "holds", "verdict": "contradicts"}\')',
        'print(\'{"verdict": "holds", "reason": NaN}\')',
        'print(\'{"verdict": "holds", "reason": "\\\\ud800"}\')',
        'print(\'{"verdict": "holds", "more": 1}\')',
        'print(\'{"verdict": "holds"}\' * 2)',
        "print('[' * 60000)",
        'import sys; sys.stdout.buffer.write(b\'{"verdict": "holds", "reason": "\\xff"}\')',
        'import sys; print(\'{"verdict": "holds"}\'); sys.exit(1)',
        'import sys; print(\'{"verdict": "contradicts"}\'); sys.exit(2)',
        'import os; print(\'{"verdict": "contradicts"}\', flush=True); os.abort()',
    ],
)
def test_an_answer_that_cannot_be_meant_fails(root: Path, body: str) -> None:
    outcome = answer(root, body + "\n")
    assert outcome.verdict == "failed" and outcome.reason


def test_a_finding_with_its_exit_code_is_a_finding(root: Path) -> None:
    assert answer(root, 'import sys; print(\'{"verdict": "contradicts"}\'); sys.exit(1)\n').verdict == "contradicts"


def test_control_characters_in_a_reason_are_kept_as_data(root: Path) -> None:
    said = "red \x1b[31m\u202e\x07"
    assert answer(root, answering("holds", said)).reason == said


def test_a_long_reason_is_clipped(root: Path) -> None:
    assert len(answer(root, answering("holds", "ü" * 9_000)).reason.encode()) <= 4_000


def test_a_flood_ends_the_command(root: Path) -> None:
    outcome = answer(root, "import sys\nwhile True: sys.stdout.write('x' * 65536)\n", timeout=60)
    assert outcome.verdict == "failed" and "bytes" in outcome.reason


def test_a_flood_on_the_other_stream_is_only_dropped(root: Path) -> None:
    body = "import sys\nfor _ in range(200): sys.stderr.write('x' * 65536)\nprint('{\"verdict\": \"holds\"}')\n"
    assert answer(root, body).verdict == "holds"


@posix
def test_time_ends_the_whole_group(root: Path) -> None:
    body = (
        "import os, pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path('pids').write_text(f'{os.getpid()} {child.pid}')\n"
        "time.sleep(600)\n"
    )
    outcome = answer(root, body, timeout=2)
    assert outcome.verdict == "failed" and "2 seconds" in outcome.reason
    for pid in (root / "pids").read_text().split():
        assert not alive(int(pid))


@posix
def test_a_child_left_behind_does_not_outlive_the_answer(root: Path) -> None:
    body = (
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path('pids').write_text(str(child.pid))\n"
        'print(\'{"verdict": "holds"}\')\n'
    )
    assert answer(root, body).verdict == "holds"
    assert not alive(int((root / "pids").read_text()))


def alive(pid: int) -> bool:
    """Is a process there and no zombie? A killed one may take a moment to go."""
    for _ in range(200):
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] if os.path.exists("/proc") else ""
            )
            os.kill(pid, 0)
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.01)
    return True


def test_standard_input_ends_after_one_document(root: Path) -> None:
    body = (
        "import sys\na = sys.stdin.read(); b = sys.stdin.read()\nsys.exit(0 if a.count('\\n') == 1 and not b else 3)\n"
    )
    assert answer(root, body).verdict == "holds"


def test_a_command_that_reads_nothing_is_fine(root: Path) -> None:
    assert answer(root, "pass\n").verdict == "holds"


def test_our_variables_and_handles_are_not_passed_on(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("API_TOKEN", "not-a-real-one")
    monkeypatch.setenv("WANTED", "yes")
    with (tmp_path / "held").open("w") as held:
        os.set_inheritable(held.fileno(), True)
        body = (
            "import json, os\n"
            f"def opened():\n    try: os.fstat({held.fileno()}); return True\n    except OSError: return False\n"
            "said = [os.environ.get('API_TOKEN'), os.environ.get('WANTED'), opened(), os.isatty(0)]\n"
            "print(json.dumps({'verdict': 'holds', 'reason': json.dumps(said)}))\n"
        )
        assert json.loads(answer(root, body, env=["WANTED"]).reason) == [None, "yes", False, False]


def test_no_shell_reads_the_arguments(root: Path) -> None:
    argv = [sys.executable, "tools/audit.py", "$(touch ran)", "; touch ran", "*"]
    body = "import json, sys\nprint(json.dumps({'verdict': 'holds', 'reason': ' '.join(sys.argv[1:])}))\n"
    assert answer(root, body, argv=argv).reason == "$(touch ran) ; touch ran *"
    assert not (root / "ran").exists()


def test_a_program_that_is_not_there_fails_the_judgement(root: Path) -> None:
    outcome = answer(root, "", argv=["no-such-program-anywhere"])
    assert outcome.verdict == "failed" and "no-such-program-anywhere" in outcome.reason


@posix
def test_a_working_folder_that_leads_out_is_not_entered(root: Path, tmp_path: Path) -> None:
    (root / "tools").mkdir()
    (tmp_path / "away").mkdir()
    (root / "tools/out").symlink_to(tmp_path / "away")
    outcome = answer(root, "print('x')", cwd="tools/out")
    assert outcome.verdict == "failed" and "outside" in outcome.reason


@posix
def test_the_current_folder_on_path_finds_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = script(root, "#!/bin/sh\nexit 0\n", "lint-it")
    tool.chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    done = commands.run(["lint-it"], root=root)
    assert done.code is None and "no program" in done.trouble
    assert "." not in commands.environment(())["PATH"].split(os.pathsep)
