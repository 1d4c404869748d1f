"""Auditors: who may judge evidence. Functions a program registers, commands a repository declares, the person at the keyboard.

Who calls: ``bridge``, ``workspace.py``, programs that embed the engine. What may not come in: what a verdict does to
beliefs, whether a command may run (``policy/trust`` says so), starting processes (``policy/commands`` does).

Commands are declared in ``.mog/plans/auditors.yaml``, beside the plans, which a project tracks::

    version: 1
    auditors:
      - name: hashing
        argv: [python3, tools/audit_hash.py]
        judges: {locators: ["sym:src/auth/*"], kinds: [drift]}

A command gets one JSON document on standard input and answers with ``{"verdict": "contradicts"|"holds"|"unknown", "reason":
"…"}`` on standard output, or, when it writes nothing there or declares ``verdict: exit``, with its exit code: 0 holds, 1
contradicts, any other failed. A failed judgement changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mog.engine import values
from mog.engine.errors import ConfigError, PolicyDenied, UsageError
from mog.engine.policy import commands, declared
from mog.engine.policy.trust import Command, TrustStore

FILE = ".mog/plans/auditors.yaml"
PERSON = "person"
VERDICTS = ("contradicts", "holds", "unknown")
FAILED = "failed"
MAX_REASON_BYTES = 4_000
MAX_TIMEOUT = 3_600.0
_FIELDS = ("name", "argv", "judges", "timeout", "cwd", "env", "covers", "verdict")


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What an auditor is asked: does this evidence contradict this belief?

    Attributes:
        target, evidence: id, type, kind, label and attributes of each, plain JSON.
        anchor: locator, path, old and new hash, freshness; empty when the evidence is not about an anchor.
        worktree: which worktree of the clone it was seen in.
    """

    target: Mapping[str, Any]
    evidence: Mapping[str, Any]
    anchor: Mapping[str, Any]
    worktree: str = ""

    def document(self) -> bytes:
        """The request as one line of canonical JSON (RFC 8785), the form a command is given."""
        body = {
            "target": self.target,
            "evidence": self.evidence,
            "anchor": self.anchor or None,
            "worktree": self.worktree,
        }
        return values.canonical({"schema": "mog.audit", "version": 1, **body}) + b"\n"


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What an auditor found: ``contradicts``, ``holds`` or ``unknown``, and why in its own words."""

    verdict: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One auditor's answer as taken down; ``verdict`` is also ``failed``. ``command`` is the digest of what ran, if a command."""

    auditor: str
    verdict: str
    reason: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Judges:
    """What an auditor judges. Empty ``kinds`` means evidence of every kind.

    Attributes:
        targets: ids or statements of beliefs, exactly.
        locators: patterns over the anchor's locator, with ``*`` and ``?``.
        kinds: kinds of evidence.
    """

    targets: tuple[str, ...] = ()
    locators: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def covers(self, request: AuditRequest) -> bool:
        """Is this request one of its own?"""
        if self.kinds and request.evidence.get("kind") not in self.kinds:
            return False
        if request.target.get("id") in self.targets or request.target.get("label") in self.targets:
            return True
        place = str(request.anchor.get("locator", ""))
        return bool(place) and any(fnmatchcase(place, pattern) for pattern in self.locators)


AuditFunction = Callable[[AuditRequest], AuditVerdict]


@dataclass(frozen=True, slots=True)
class Auditor:
    """An auditor: a function of this process, or a command (then ``function`` is None)."""

    name: str
    judges: Judges
    function: AuditFunction | None = None
    command: Command | None = None
    timeout: float = 60.0
    env: tuple[str, ...] = ()
    by_exit: bool = False


class AuditorRegistry:
    """The functions a program brings, by name. A name never becomes an import, and is registered once."""

    def __init__(self) -> None:
        self._functions: dict[str, Auditor] = {}

    def register(
        self, name: str, function: AuditFunction, *,
        targets: Collection[str] = (), locators: Collection[str] = ("*",), kinds: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Register a function; it judges the named targets and what is anchored at the patterns.

        Raises:
            UsageError: the name is taken, reserved, empty, or not printable without spaces; no function.
        """
        if not sound_name(name) or name == PERSON:
            raise UsageError(
                f"{name!r} cannot name an auditor", way_out="use printable characters, no spaces; not `person`"
            )
        if name in self._functions:
            raise UsageError(f"the auditor {name!r} is registered already", way_out="choose another name")
        if not callable(function):
            raise UsageError("an auditor must be callable", where=name, way_out="pass a function of one request")
        self._functions[name] = Auditor(name, Judges(tuple(targets), tuple(locators), tuple(kinds)), function)

    def names(self) -> tuple[str, ...]:
        """Registered names, sorted."""
        return tuple(sorted(self._functions))

    def joined(self, others: Iterable[Auditor]) -> tuple[Auditor, ...]:
        """Registered functions and declared commands together, by name.

        Raises:
            ConfigError: a declared one has the name of a registered one.
        """
        everyone = dict(self._functions)
        for other in others:
            if other.name in self._functions:
                what = f"the auditor {other.name!r} has the name of one that the program registered"
                raise ConfigError(what, where=FILE, way_out="give it another name")
            everyone[other.name] = other
        return tuple(everyone[name] for name in sorted(everyone))


def sound_name(name: object) -> bool:
    """May this name an auditor? Text of 1 to 128 printable characters without spaces."""
    return isinstance(name, str) and 0 < len(name) <= 128 and name.isprintable() and not any(c.isspace() for c in name)


# -- declarations


def load(root: Path) -> tuple[Auditor, ...]:
    """The auditors a repository declares, in its order; none when it has no such file. Reading runs nothing.

    Raises:
        ConfigError: the file cannot be used; it names file and field.
    """
    value = declared.read(root, FILE)
    if value is None:
        return ()
    top = declared.Fields(value, FILE, "", ("version", "auditors"))
    if top.raw("version") != 1 or isinstance(top.raw("version"), bool):
        raise top.error("version", f"{top.raw('version')!r} is not known", "write `version: 1`")
    found: dict[str, Auditor] = {}
    for where, item in top.items("auditors"):
        fields = declared.Fields(item, FILE, where, _FIELDS)
        auditor = _auditor(fields, item)
        if auditor.name in found:
            raise fields.error("name", f"{auditor.name!r} is declared twice", "give it another name")
        found[auditor.name] = auditor
    return tuple(found.values())


def commands_of(root: Path) -> tuple[Command, ...]:
    """The commands of the declared auditors, for ``mog allow``. Raises ConfigError as ``load`` does."""
    return tuple(auditor.command for auditor in load(root) if auditor.command is not None)


def _auditor(fields: declared.Fields, spec: Mapping[str, Any]) -> Auditor:
    name = fields.text("name")
    if not sound_name(name) or name == PERSON:
        raise fields.error("name", f"{name!r} cannot name an auditor", "printable characters, no spaces; not `person`")
    argv, cwd = fields.texts("argv", least=1), fields.text("cwd", "")
    if not argv[0]:
        raise fields.error("argv", "names no program", "put the program first")
    if Path(cwd).is_absolute() or ".." in Path(cwd).parts:
        raise fields.error("cwd", "lies outside the repository", "name a folder below the root")
    judges = _judges(fields)
    command = Command("auditor", name, FILE, argv, cwd, fields.texts("covers"), _plain(fields, spec))
    timeout = fields.number("timeout", 60.0, 0.1, MAX_TIMEOUT)
    by_exit = fields.choice("verdict", ("json", "exit")) == "exit"
    return Auditor(name, judges, None, command, timeout, fields.texts("env"), by_exit)


def _judges(fields: declared.Fields) -> Judges:
    inner = declared.Fields(fields.raw("judges"), FILE, fields.where("judges"), ("targets", "locators", "kinds"))
    judges = Judges(inner.texts("targets"), inner.texts("locators"), inner.texts("kinds"))
    if not judges.targets and not judges.locators:
        raise inner.error("", "says nothing it judges", "name `targets` or `locators`")
    return judges


def _plain(fields: declared.Fields, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        plain: Mapping[str, Any] = values.plain(spec, fields.where(""))
    except UsageError as error:
        raise ConfigError(error.what, where=f"{FILE}: {error.where}", way_out=error.way_out) from error
    return plain


# -- asking


def ask(auditor: Auditor, request: AuditRequest, root: Path, trust: TrustStore) -> Outcome:
    """One auditor's answer to one request. What the auditor does wrong makes this judgement fail, and nothing else.

    Raises:
        PolicyDenied: its command is not allowed, or no longer what was allowed. StoreDamaged: as ``TrustStore``.
    """
    if auditor.function is not None:
        return _ask_function(auditor, request)
    assert auditor.command is not None
    digest = trust.require(auditor.command).digest
    return _ask_command(auditor, auditor.command, request, root, digest)


def _ask_function(auditor: Auditor, request: AuditRequest) -> Outcome:
    assert auditor.function is not None
    try:
        answer = auditor.function(request)
    except (Exception, SystemExit) as error:  # a stranger's function: this judgement fails, the others go on
        return Outcome(auditor.name, FAILED, _clipped(f"it raised {type(error).__name__}: {error}"))
    if not isinstance(answer, AuditVerdict):
        return Outcome(auditor.name, FAILED, f"it answered with a {type(answer).__name__}, not an AuditVerdict")
    return _outcome(auditor.name, answer.verdict, answer.reason, "")


def _ask_command(auditor: Auditor, command: Command, request: AuditRequest, root: Path, digest: str) -> Outcome:
    try:
        done = commands.run(
            command.argv,
            root=root,
            cwd=command.cwd,
            stdin=request.document(),
            names=auditor.env,
            timeout=auditor.timeout,
        )
    except PolicyDenied as error:  # its folder became a link that leads out
        return Outcome(auditor.name, FAILED, _clipped(str(error)), digest)
    if done.trouble:
        return Outcome(auditor.name, FAILED, _clipped(done.trouble), digest)
    if auditor.by_exit or not done.out.strip():
        return _by_exit(auditor.name, done, digest)
    return _by_json(auditor.name, done, digest)


def _by_exit(name: str, done: commands.Finished, digest: str) -> Outcome:
    said = _last_line(done.out) or _last_line(done.err)
    if done.code in (0, 1):
        return _outcome(name, VERDICTS[1 - done.code], said or f"exit code {done.code}", digest)
    return Outcome(name, FAILED, _clipped(f"exit code {done.code}" + (f": {said}" if said else "")), digest)


def _by_json(name: str, done: commands.Finished, digest: str) -> Outcome:
    try:
        answer = json.loads(done.out.decode("utf-8"), object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Outcome(name, FAILED, "its answer is not one JSON value in UTF-8", digest)
    if not isinstance(answer, dict) or not set(answer) <= {"verdict", "reason"}:
        return Outcome(name, FAILED, "its answer is no object with `verdict` and `reason`", digest)
    verdict = answer.get("verdict")
    if done.code != 0 and not (done.code == 1 and verdict == "contradicts"):
        return Outcome(name, FAILED, f"it answered and left with exit code {done.code}", digest)
    return _outcome(name, verdict, answer.get("reason", ""), digest)


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice")
    return out


def _no_constant(text: str) -> float:
    raise ValueError(text)


def _outcome(name: str, verdict: object, reason: object, digest: str) -> Outcome:
    if verdict not in VERDICTS or not isinstance(reason, str):
        return Outcome(name, FAILED, "its answer has no verdict that is known", digest)
    try:
        reason.encode("utf-8")
    except UnicodeEncodeError:
        return Outcome(name, FAILED, "its reason is not valid Unicode", digest)
    return Outcome(name, str(verdict), _clipped(reason), digest)


def _clipped(text: str) -> str:
    """Valid Unicode of at most 4,000 bytes; what was said is kept as it was said, control characters too."""
    return text.encode("utf-8", "replace")[:MAX_REASON_BYTES].decode("utf-8", "ignore")


def _last_line(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    return _clipped(next((line for line in reversed(lines) if line), ""))
