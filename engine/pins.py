"""Pins: notes anchored to code, kept as events. Called by ``workspace.py``.

What may not come in: the index, the disk, clocks, judgement about freshness. A pin stores the anchor of the moment it
was made, and nothing re-baselines it but a ``pin.moved`` event that somebody asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mog.engine.errors import NotFound, PolicyDenied, StoreDamaged, UsageError
from mog.engine.ledgers.events import Event, EventLog, Head
from mog.engine.model import Anchor, Pin
from mog.engine.reason.records import anchor_json, anchor_of

MAX_NOTE_BYTES = 16_000
_ID_DIGITS = (12, 16, 24, 32, 64)


class PinStore:
    """The pins of one event log. Safe from any thread."""

    def __init__(self, log: EventLog, looks_secret: Callable[[str], bool] | None = None) -> None:
        """``looks_secret`` says whether a text is shaped like a credential; such a note is refused."""
        self._log = log
        self._looks_secret = looks_secret
        self._lock = threading.RLock()
        self._head = Head()
        self._pins: dict[str, Pin] = {}

    def add(self, note: str, anchor: Anchor, when: str) -> Pin:
        """Record a note on ``anchor``; ``when`` is the wall time in ISO 8601.

        Raises:
            UsageError: the note is empty, longer than 16,000 bytes of UTF-8, or not valid Unicode.
            PolicyDenied: the note is shaped like a credential.
            HeldByOther, StoreDamaged: as ``EventLog.append``.
        """
        self._check_note(note)
        with self._lock:
            event = self._record("pin.added", {"note": note, "anchor": anchor_json(anchor)}, when)
            return next(p for p in self._pins.values() if p.seq == event.seq)

    def remove(self, pin_id: str, when: str = "") -> Pin:
        """Take a pin away; the pin that was. Raises NotFound, and as ``EventLog.append``."""
        with self._lock:
            pin = self.get(pin_id)
            self._record("pin.removed", {"pin": pin.id}, when)
            return pin

    def move(self, pin_id: str, anchor: Anchor, when: str = "") -> Pin:
        """Anchor a pin anew, where its code is now; the pin as it is from now on. Raises as ``remove``."""
        with self._lock:
            pin = self.get(pin_id)
            if pin.anchor != anchor:
                self._record("pin.moved", {"pin": pin.id, "anchor": anchor_json(anchor)}, when)
            return self._pins[pin.id]

    def all(self) -> tuple[Pin, ...]:
        """The pins that stand, in the order they were made. Raises StoreDamaged."""
        with self._lock:
            self._refresh()
            return tuple(self._pins.values())

    def get(self, pin_id: str) -> Pin:
        """The pin with this id. Raises NotFound, StoreDamaged."""
        with self._lock:
            self._refresh()
            found = self._pins.get(pin_id)
        if found is None:
            raise NotFound(f"no pin {pin_id!r}", way_out="list them with `mog verify`")
        return found

    def at(self, locator: str) -> tuple[Pin, ...]:
        """The pins whose anchor has this locator. Raises StoreDamaged."""
        return tuple(pin for pin in self.all() if pin.anchor.locator == locator)

    def _check_note(self, note: str) -> None:
        if not note.strip():
            raise UsageError("an empty note", way_out="say what should be remembered: --note TEXT")
        try:
            size = len(note.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise UsageError("the note is not valid Unicode", way_out="type it again in UTF-8") from error
        if size > MAX_NOTE_BYTES:
            raise UsageError(f"the note has {size} bytes, {MAX_NOTE_BYTES} is the limit", way_out="shorten it")
        if self._looks_secret is not None and self._looks_secret(note):
            raise PolicyDenied("the note is shaped like a credential", way_out="write what it is, not its value")

    def _record(self, type: str, data: Mapping[str, Any], when: str) -> Event:
        self._refresh()
        event = self._log.append(type, data, when=when, expected=self._head)
        self._replay(event)
        return event

    def _refresh(self) -> None:
        """Replay what came since; from the first event when the log is not the one that was replayed."""
        head = self._log.head()
        if head == self._head:
            return
        if head.seq <= self._head.seq or not self._continues():
            self._head, self._pins = Head(), {}
        for event in self._log.events(self._head.seq):
            self._replay(event)

    def _continues(self) -> bool:
        at = self._head.seq
        return at == 0 or next(self._log.events(at - 1, 1)).digest == self._head.digest

    def _replay(self, event: Event) -> None:
        if event.type.startswith("pin."):
            try:
                self._apply(event)
            except (KeyError, TypeError, ValueError) as error:
                what = f"event {event.seq} ({event.type}) is of no known form"
                way_out = "upgrade mog, or run `mog doctor`"
                raise StoreDamaged(what, where=str(self._log.path), way_out=way_out) from error
        self._head = Head(event.seq, event.digest)

    def _apply(self, event: Event) -> None:
        data = event.data
        if event.type == "pin.added":
            pin_id = self._new_id(event.digest)
            self._pins[pin_id] = Pin(pin_id, _text(data["note"]), anchor_of(data["anchor"]), event.seq, event.recorded_at)
        elif event.type == "pin.removed":
            del self._pins[data["pin"]]
        elif event.type == "pin.moved":
            self._pins[data["pin"]] = replace(self._pins[data["pin"]], anchor=anchor_of(data["anchor"]))
        else:
            raise ValueError(event.type)

    def _new_id(self, digest: str) -> str:
        """``pin_`` and twelve digits of the event's digest; more of them when another pin has those."""
        return next(pin_id for n in _ID_DIGITS if (pin_id := f"pin_{digest[:n]}") not in self._pins)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, not {type(value).__name__}")
    return value
