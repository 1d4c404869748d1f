"""``mog demo``: stories of beliefs and of work, played in a temporary folder with the commands a person would type."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mog.app.cli import beliefs, exit_codes, output
from mog.app.cli.options import COMMON, Common

if TYPE_CHECKING:
    from mog.app.plain import Line
    from mog.engine.executor.demo import Step
    from mog.engine.reason.demo import Scene

PAUSE = 2.0
PER_WORD = 0.12
HOLDS = "holds"
LEAVES_HOME = {"MOG_TRUST_DIR": "trust", "MOG_KEYS_DIR": "keys", "MOG_WITNESS_DIR": "witness"}
VARYING = ("ledger", "checkpoint", "witness", "head")
KILLED_WITHIN = 60.0


def demo(
    story: Annotated[
        Literal["beliefs", "execute"], Parameter(help="beliefs: what falls and why; execute: only what fell runs again.")
    ] = "beliefs",
    /,
    *,
    fast: Annotated[
        bool, Parameter(negative="", show_default=False, help="No pauses to read in (none without a terminal).")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Play a story: break an assumption and see what survives, or see only the work that fell run again.

    Everything happens in a temporary folder; this repository is not looked at.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mog-demo-", ignore_cleanup_errors=True) as name, _at_home_in(Path(name)):
        paced = not fast and not common.json and sys.stdout.isatty()
        play = _executed if story == "execute" else _believed
        told, holds = play(Path(name).resolve(), common, paced)
    if common.json:
        output.document({"scenes": told})
    return exit_codes.OK if holds else exit_codes.DAMAGED


def _believed(folder: Path, common: Common, paced: bool) -> tuple[list[dict[str, Any]], bool]:
    """Read notes, ask, meet the four dead ends, break an assumption, see what survives, undo, prove."""
    from mog.engine.reason.demo import PROJECT, SCENES

    play = _Play(_made(folder / PROJECT), common, paced=paced)
    for scene in SCENES:
        play.scene(scene)
    return play.told, play.proof()


def _executed(folder: Path, common: Common, paced: bool) -> tuple[list[dict[str, Any]], bool]:
    """Declare work, run it, lose a ground, repair, be killed, go on."""
    from mog.engine.executor.demo import PROJECT, STEPS

    play = _Play(_made(folder / PROJECT), common, paced=paced)
    for step in STEPS:
        play.step(step)
    return play.told, True


def _made(root: Path) -> Path:
    from mog.engine.workspace import Workspace

    root.mkdir()
    (root / "mog.yaml").write_text(f"project: {root.name}\n", encoding="utf-8")
    Workspace.init(root)
    return root


@contextmanager
def _at_home_in(folder: Path) -> Iterator[None]:
    """Keys, trust and witness of this person stay out of the story."""
    before = {name: os.environ.get(name) for name in LEAVES_HOME}
    os.environ.update({name: str(folder / below) for name, below in LEAVES_HOME.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Play:
    """Plays scenes one after the other; ``told`` is what ``--json`` prints."""

    def __init__(self, root: Path, common: Common, *, paced: bool) -> None:
        self.root = root
        self.common = common
        self.told: list[dict[str, Any]] = []
        self._paced = paced
        self._kept: dict[str, str] = {}
        self._chapter = 0

    def scene(self, scene: Scene) -> None:
        """Write its files, say what happens, run its command."""
        for path, text in scene.writes:
            _written(self.root / path, text)
        words = [word.format_map(self._kept) if word.startswith("{") else word for word in scene.command]
        self._say(scene.title, scene.text, words)
        code, answer = self._run(words)
        if code != scene.exit:
            raise RuntimeError(f"mog {' '.join(words)} exited {code}, not {scene.exit}")
        self._wait(PAUSE)
        self._tell(scene.title, scene.text, words, code, answer)
        if scene.keep:
            self._keep(scene.keep)

    def step(self, step: Step) -> None:
        """Write its files, say what happens, run its command, to its end or until it is killed."""
        for path, text in step.writes:
            _written(self.root / path, _planned(text) if path == "plan.yaml" else text)
        words = list(step.command)
        self._say(step.title, step.text, words)
        if step.killed:
            code, answer = _killed(self.root, words, self.root / step.killed), {"killed": True}
        else:
            code, answer = self._run(words)
        if code != step.exit and not step.killed:
            raise RuntimeError(f"mog {' '.join(words)} exited {code}, not {step.exit}")
        if step.killed and not self.common.json:
            beliefs.folded([(("killed", "attn"),)], self.common)
        self._wait(PAUSE)
        self._tell(step.title, step.text, words, 0 if step.killed else code, answer)

    def proof(self) -> bool:
        """One event, proved by the script that knows nothing of mog; whether it holds."""
        seq = self._kept["broken"]
        text = "Last, one event is proved against a signed checkpoint by a script that needs no mog, only Python."
        said = _proved(self.root, int(seq))
        self._say("", text, ["ledger", "prove", seq])
        if not self.common.json:
            beliefs.folded([((f"verify_ledger.py: event {seq} {said}", "name"),)], self.common)
        self._tell("", text, ["ledger", "prove", seq], exit_codes.OK, {"verifier": said})
        return said == HOLDS

    def _say(self, title: str, text: str, words: list[str]) -> None:
        if self.common.json:
            return
        lines: list[Line] = [(("", ""),)]
        if title:
            self._chapter += 1
            lines.append(((f"{self._chapter}  {title}", "name"),))
            lines.append((("", ""),))
        lines.append(((text, ""),))
        lines.append(((f"$ mog {' '.join(_typed(word) for word in words)}", "chip"),))
        beliefs.folded(lines, self.common)
        self._wait(PER_WORD * len(text.split()))

    def _wait(self, seconds: float) -> None:
        """Time to read what was said, before the next thing is."""
        if self._paced:
            sys.stdout.flush()
            time.sleep(seconds)

    def _run(self, words: list[str]) -> tuple[int, dict[str, Any]]:
        """One command as it stands, in this process and in the folder of the story."""
        from mog.app.cli.commands import build

        here = [*words, "--repo", str(self.root)]
        if words[0] == "ingest":
            here = [words[0], *(str(self.root / path) for path in words[1:]), "--repo", str(self.root)]
        if not self.common.json:
            return int(build()([*here, *(["--no-color"] if self.common.no_color else [])])), {}
        with redirect_stdout(io.StringIO()) as taken:
            code = int(build()([*here, "--json"]))
        answer: dict[str, Any] = json.loads(taken.getvalue())
        return code, {key: value for key, value in answer.items() if key not in VARYING}

    def _tell(self, title: str, text: str, words: list[str], code: int, answer: dict[str, Any]) -> None:
        self.told.append({"title": title, "text": text, "command": ["mog", *words], "exit": code, "answer": answer})

    def _keep(self, name: str) -> None:
        from mog.app.plain_radius import shorten
        from mog.engine.workspace import Workspace

        with Workspace.open(self.root) as workspace:
            if name == "open":
                self._kept[name] = shorten(workspace.beliefs.bridge.pending()[0].evidence)
            else:
                self._kept[name] = str(workspace.beliefs.log.head().seq)


def _written(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode("utf-8"))


def _planned(which: str) -> str:
    """A plan file of the story, with the name that Python has here."""
    import shutil

    from mog.engine.executor import demo as story

    python = next((name for name in ("python3", "python") if shutil.which(name)), "python3")
    return story.first(python) if which == "first" else story.second(python)


def _killed(root: Path, words: list[str], mark: Path) -> int:
    """Start a command as a process of its own and kill it as soon as a file is there; its exit code."""
    import subprocess

    vector = [sys.executable, "-m", "mog", *words, "--repo", str(root), "--quiet"]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(vector, cwd=root, stdin=nowhere, stdout=nowhere, stderr=nowhere) as process:
        until = time.monotonic() + KILLED_WITHIN
        while not mark.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
        code = process.wait()
    if not mark.exists():
        raise RuntimeError(f"mog {' '.join(words)} did not get so far")
    return code


def _typed(word: str) -> str:
    """A word as it is typed into a shell."""
    return f'"{word}"' if " " in word or "?" in word else word


def _proved(root: Path, seq: int) -> str:
    """What the stand-alone verifier says about one event: its own process, its own reading of two files."""
    import subprocess

    from mog.engine import attest
    from mog.engine.ledgers import verifier
    from mog.engine.workspace import Workspace

    with Workspace.open(root) as workspace:
        log = workspace.beliefs.log
        signed = attest.checkpoint(log)
        proof = log.prove(seq)
    files = {"proof.json": json.dumps(proof), "checkpoint.txt": signed.note}
    for name, text in files.items():
        (root.parent / name).write_bytes(text.encode("utf-8"))
    vector = [
        sys.executable,
        "-I",
        str(verifier.path()),
        "inclusion",
        "proof.json",
        "checkpoint.txt",
        "--key",
        signed.key,
    ]
    done = subprocess.run(vector, cwd=root.parent, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return HOLDS if done.returncode == 0 else "does not hold"
