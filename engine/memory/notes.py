"""``Notes``: what people and agents want kept, said, found and taken back. Reached as ``workspace.memory``.

What lives here: handing each call to the room that answers it, one commit a write. What may not come in: a store of its own
(notes are records of the belief engine), rules of standing, text for one surface. Safe from any thread.

Every note that is served carries its standing, its freshness with what changed and when, its trust label and where it comes from.
It is data: whoever shows it frames it as such (``items``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.memory import anchoring, items, limits, ranking, wording, writing
from mog.engine.memory.limits import USER
from mog.engine.memory.reading import EVERYWHERE, Reading
from mog.engine.memory.records import Alike, Note, Recalled, Remembered
from mog.engine.memory.writing import Saying, speaker
from mog.engine.reason import commands

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs
    from mog.engine.code.view import CodeView
    from mog.engine.config import EngineConfig
    from mog.engine.memory.changes import Changes
    from mog.engine.reason.mesh import Effect
    from mog.engine.reason.writer import Writer
    from mog.engine.retrieval.model import Item

ALIKE, ALIKE_ANYWHERE, MAX_ALIKE = 0.5, 0.85, 8
_REF = "note:"
Reader = Callable[[], "AbstractContextManager[CodeView]"]


class Notes:
    """Memory of one clone, seen from one worktree.

    Writes raise HeldByOther when another process writes, StoreDamaged when the ledger cannot be written, PolicyDenied for a text
    shaped like a credential and for what an agent may not do, UsageError and NotFound for what cannot be meant; then nothing was
    recorded.

    Args:
        beliefs: of the workspace. config: its settings. reading: a view of the index that is held while it is used; raises
            IndexMissing when there is none.
    """

    def __init__(self, beliefs: Beliefs, config: EngineConfig, reading: Reader) -> None:
        self._beliefs = beliefs
        self._config = config
        self._sight = anchoring.Sight(beliefs, reading)
        self._lock = threading.RLock()

    @cached_property
    def _changes(self) -> Changes:
        from mog.engine.memory.changes import Changes

        return Changes(self._beliefs.place.root, self._beliefs.place.key, self._config)

    @cached_property
    def _kept(self) -> Reading:
        return Reading(self._beliefs, self._changes, self._sight)

    @property
    def _reading(self) -> Reading:
        """For one question, under the lock."""
        return self._kept.anew()

    def close(self) -> None:
        """Let go of files. The ledger is the workspace's."""
        if "_changes" in self.__dict__:
            self._changes.close()

    # saying

    def remember(
        self, kind: str, text: str, *, anchors: Sequence[str] = (), because: str = "", key: str = "",
        contradicts: Sequence[str] = (), origin: str = USER, by: str = "", session: str = "",
    ) -> Remembered:  # fmt: skip
        """Keep something. An agent's is kept at once, as evidence or as a proposal that a person may promote.

        Args:
            kind: one of ``limits.KINDS``. text: at most 16,000 bytes of UTF-8, kept verbatim.
            anchors: code it is about: name, path, ``path::name``, ``path:10-20`` or locator; as it is on disk now.
            because: reason of a decision. key: the same key from the same speaker is recorded once, and must say the same.
            contradicts: records it speaks against; they are contested until somebody judges.
            origin: ``user``, ``agent`` or ``tool``. by: name of the program. session: the conversation it was said in.

        Raises:
            PolicyDenied: constraint, convention or correction from a program; a credential; what a person took back; gated code.
            UsageError: too long, empty, no such kind; the code changed since the index saw it. NotFound: no such code.
        """
        saying = self._saying(kind, text, anchors, because, key, origin, by, session)
        found = tuple(self._beliefs.find(_bare(target)) for target in contradicts)
        said = replace(saying, contradicts=found)
        return self._commit("remembered", said, lambda w: writing.record(w, said))

    def supersede(
        self, target: str, text: str, *, kind: str = "", reason: str = "", because: str = "",
        anchors: Sequence[str] | None = None, everything: str = "", origin: str = USER, by: str = "", session: str = "",
    ) -> Remembered:  # fmt: skip
        """Put a note in the place of another.

        Args:
            kind: of the new note; "" as the old one. anchors: None for the code the old one is about, as it is now.
            everything: ``move`` or ``drop``: what becomes of records that rest on the old one.

        Raises: PolicyDenied: a program replaces what is not a program's. And as ``remember``.
        """
        old = self._own(target, origin, "replace")
        places = [held.now_at or held.locator for held in old.anchors] if anchors is None else anchors
        said = self._saying(kind or old.kind, text, places, because, "", origin, by, session or old.session)
        return self._commit(
            "superseded", said, lambda w: writing.supersede(w, old.id, said, everything=everything, reason=reason)
        )

    def promote(self, target: str, *, kind: str = "", origin: str = USER) -> Remembered:
        """A person takes over what an agent said, as what it was said to be or as ``kind``. The agent's own gives way to it.

        Raises:
            PolicyDenied: a program asks. UsageError: it is a person's already, it is gone, or its code changed since it was said.
        """
        limits.person_only(origin, "promote a note")
        old = self._counting(target)
        if old.origin == USER:
            raise UsageError("it is a person's word already", where=old.ref, way_out="`mog recall` shows what waits")
        self._sight.still(old)
        places = [held.now_at or held.locator for held in old.anchors]
        said = self._saying(kind or old.kind, old.text, places, old.because, "", USER, "", old.session)
        return self._commit("promoted", said, lambda w: writing.promote(w, old.id, said))

    def forget(self, target: str, *, reason: str, origin: str = USER, by: str = "") -> Remembered:
        """Take a note back, with a reason; it stays in the history.

        Evidence is withdrawn; an assumption is rejected in the person's name (GRAPH.md rule 7).

        Raises: PolicyDenied: a program forgets what is not a program's. UsageError: no reason, or it is gone already.
        """
        old = self._own(target, origin, "forget")
        if old.type == "assumption":
            said = f"taken back: {reason}"
            effect = commands.reject(self._beliefs.mesh, old.id, evidence=said, auditor=commands.PERSON, reason=reason)
        else:
            act = commands.withdraw if old.type == "evidence" else commands.retract
            effect = act(self._beliefs.mesh, old.id, reason=reason, by=speaker(origin, by))
        return self._done(effect, old.id)

    def pin(self, target: str) -> Remembered:
        """Keep a note in sight: it ranks higher and is never evicted. Raises NotFound, UsageError."""
        return self._pinned(target, True)

    def unpin(self, target: str) -> Remembered:
        """The opposite. Raises NotFound, UsageError."""
        return self._pinned(target, False)

    # finding

    def recall(self, target: str) -> Note:
        """One note by ``note:<id>``, an id, its first digits, or its words, whatever became of it.

        Raises: NotFound, UsageError.
        """
        with self._lock:
            reading = self._reading
            return reading.explained(reading.note(self._beliefs.find(_bare(target))), look=EVERYWHERE)

    def search(
        self, query: str, *, limit: int = 10, kinds: Collection[str] = (), places: Collection[str] = (), gone: bool = False
    ) -> Recalled:
        """Notes that answer a query, best first (``ranking``).

        Args:
            kinds: only these. places: locators of code the query is about; notes anchored there gain.
            gone: superseded, retracted and fallen ones too.
        """
        with self._lock:
            return ranking.search(self._reading, query, limit=limit, kinds=kinds, places=places, gone=gone)

    def newest(self, *, limit: int = 10, kinds: Collection[str] = (), gone: bool = False) -> Recalled:
        """The notes said last, the last one first. Arguments as of ``search``."""
        with self._lock:
            return ranking.newest(self._reading, limit=limit, kinds=kinds, gone=gone)

    def all(self, *, gone: bool = False) -> tuple[Note, ...]:
        """Every note that counts (or every one), in the order they were said, each held against the disk."""
        with self._lock:
            reading = self._reading
            with reading.mesh.locked():
                ids = [id for id in reading.known() if gone or reading.counts(id)]
            return tuple(reading.notes(ids, look=EVERYWHERE))

    def items(
        self, query: str, budget: int, *, limit: int = 10, places: Collection[str] = (), kinds: Collection[str] = ()
    ) -> tuple[Item, ...]:
        """What ``search`` finds as items of a pack, together at most ``budget`` tokens by ``retrieval/estimator``.

        Without a query: what is anchored at ``places``.
        """
        if not self._beliefs.log.path.exists():
            return ()
        return items.fill(self.search(query, limit=limit, places=places, kinds=kinds).notes, budget)

    # inside

    def _saying(
        self, kind: str, text: str, anchors: Sequence[str], because: str, key: str, origin: str, by: str, session: str
    ) -> Saying:
        limits.form_of(kind, origin)
        limits.check_text(text)
        for what, name in (("key", key), ("session", session), ("speaker", by)):
            limits.check_name(name, what)
        if because:
            limits.check_text(because)
        self._let(origin)
        self._beliefs.mesh.refuse_secret(text, because, key, session, by)
        with self._lock:
            made = self._sight.anchors(anchors, self._changes)
            self._changes.anew()
            commit = self._changes.head()
        return Saying(kind, text, origin, speaker(origin, by), session, key, because, commit, made)

    def _let(self, origin: str) -> None:
        if origin != USER and self._config.agent_memory == "refuse":
            way_out = "a person sets memory.agents: allow in mog.yaml"
            raise PolicyDenied("agents and tools may not remember here", where="memory.agents", way_out=way_out)

    def _commit(self, verb: str, said: Saying, change: Callable[[Writer], str]) -> Remembered:
        effect = self._beliefs.mesh.apply(verb, change, by=said.by, kind=said.kind)
        places = [anchor.locator for anchor, _ in said.anchors]
        done = self._done(effect, effect.result)
        alike = self._alike(effect.result, said.text, places)
        return replace(done, alike=alike, warnings=self._warnings(said, done))

    def _done(self, effect: Effect, id: str) -> Remembered:
        with self._lock:
            reading = self._reading
            return Remembered(reading.explained(reading.note(id)), effect.events, effect.radius)

    def _warnings(self, said: Saying, done: Remembered) -> tuple[str, ...]:
        found = list(self._sight.outside(said.text, said.anchors))
        if not done.events:
            found.insert(0, "it was remembered already; nothing new was recorded")
        if done.note.gone or done.note.standing == "fallen":
            found.insert(0, "it is on record and does not count: evidence was judged to contradict it, or it was taken back")
        return tuple(found)

    def _alike(self, id: str, text: str, places: Sequence[str]) -> tuple[Alike, ...]:
        with self._lock:
            reading = self._reading
            with reading.mesh.locked():
                ids = self._shared(reading, id, set(places))
            notes = zip(reading.notes([other for other, _ in ids]), (share for _, share in ids), strict=True)
            return tuple(Alike(note, share, wording.denies(text, note.text)) for note, share in notes)

    @staticmethod
    def _shared(reading: Reading, id: str, places: set[str]) -> list[tuple[str, float]]:
        """Ids of the notes most like a new one, with the share of words; at another place they have to be nearly the same."""
        mine, rows = reading.words(id), []
        for other in reading.counting():
            share = wording.overlap(mine, reading.words(other)) if other != id else 0.0
            theirs = {one.anchor.locator for one in reading.mesh.anchors(other)} if share >= ALIKE else set()
            same = bool(theirs & places) or not (theirs or places)
            if share >= (ALIKE if same else ALIKE_ANYWHERE):
                rows.append((other, share))
        return sorted(rows, key=lambda row: (-row[1], row[0]))[:MAX_ALIKE]

    def _counting(self, target: str) -> Note:
        with self._lock:
            note = self._reading.note(self._beliefs.find(_bare(target)))
            if note.gone or not self._reading.counts(note.id):
                what = f"it no longer counts: {note.gone or 'it has fallen'}"
                way_out = "`mog explain` shows why; `mog withdraw` brings back what was taken back"
                raise UsageError(what, where=note.ref, way_out=way_out)
            return note

    def _own(self, target: str, origin: str, act: str) -> Note:
        self._let(origin)
        note = self._counting(target)
        if origin not in limits.ORIGINS:
            raise UsageError(f"there is no origin {origin!r:.60}", way_out="one of: " + ", ".join(limits.ORIGINS))
        if origin != USER and note.origin == USER:
            way_out = "remember what speaks against it, and leave it to the person"
            raise PolicyDenied(f"a program may not {act} what a person said", where=note.ref, way_out=way_out)
        return note

    def _pinned(self, target: str, on: bool) -> Remembered:
        note = self._counting(target)
        verb = "pinned" if on else "unpinned"
        return self._done(self._beliefs.mesh.apply(verb, lambda w: writing.pin(w, note.id, on)), note.id)


def _bare(target: str) -> str:
    bare = target.removeprefix(_REF)
    if not bare.strip():
        raise NotFound("no note is named", where=target, way_out="name it by note:<id> or its words")
    return bare
