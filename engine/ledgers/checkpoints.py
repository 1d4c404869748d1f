"""Signed checkpoints: what a ledger was at one moment, said under a key. Called by the log, witnesses and surfaces.

What may not come in: rows of a ledger. A checkpoint is a C2SP tlog-checkpoint in a C2SP signed note with one Ed25519
signature (RFC 8032):

    mog/<ledger id>
    <number of events>
    <Merkle root, base64>
    state <state root, hex>
    <empty line>
    — mog/<ledger id> <first 4 bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key), then the signature, base64>

The secret key is one per person and lives outside every repository, 0600 in the person's settings folder; beside it the
public keys of others that this person knows. It shows who signed to people who know that key, and nothing to others.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.ledgers import small_files

VARIABLE = "MOG_KEYS_DIR"
MAX_NOTE_BYTES = 4096
_KIND = b"\1"
_NOTE = re.compile(
    "(mog/([0-9a-f]{32})\n([1-9][0-9]{0,17})\n([A-Za-z0-9+/]{43}=)\nstate ([0-9a-f]{64})\n)\n"
    "\u2014 (mog/[0-9a-f]{32}) ([A-Za-z0-9+/]{91}=)\n"
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a ledger was.

    Attributes:
        ledger: its name, 32 hex digits.
        size: number of its events, at least 1.
        root: Merkle root over them in hex.
        state: state root after the last in hex.
    """

    ledger: str
    size: int
    root: str
    state: str

    @property
    def text(self) -> str:
        """The text that is signed."""
        root = base64.b64encode(bytes.fromhex(self.root)).decode("ascii")
        return f"mog/{self.ledger}\n{self.size}\n{root}\nstate {self.state}\n"


@dataclass(frozen=True, slots=True)
class Note:
    """A checkpoint with its signature, as read; whether it holds is asked with ``holds``."""

    checkpoint: Checkpoint
    key_hash: bytes
    signature: bytes

    @property
    def text(self) -> str:
        """The note as a file holds it."""
        blob = base64.b64encode(self.key_hash + self.signature).decode("ascii")
        return f"{self.checkpoint.text}\n\u2014 mog/{self.checkpoint.ledger} {blob}\n"

    def holds(self, public: bytes) -> bool:
        """Whether it was signed with this public key (32 bytes)."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        if self.key_hash != key_hash(self.checkpoint.ledger, public):
            return False
        try:
            Ed25519PublicKey.from_public_bytes(public).verify(self.signature, self.checkpoint.text.encode("utf-8"))
        except (InvalidSignature, ValueError):
            return False
        return True


def key_hash(ledger: str, public: bytes) -> bytes:
    """The four bytes by which a note names its key."""
    return hashlib.sha256(f"mog/{ledger}\n".encode() + _KIND + public).digest()[:4]


def key_line(ledger: str, public: bytes) -> str:
    """The public key as C2SP writes it for one ledger, for ``verify_ledger.py --key``."""
    blob = base64.b64encode(_KIND + public).decode("ascii")
    return f"mog/{ledger}+{key_hash(ledger, public).hex()}+{blob}"


def read_note(text: str, where: str = "") -> Note:
    """The parts of a signed checkpoint. Raises StoreDamaged when it is none."""
    found = _NOTE.fullmatch(text) if len(text) <= MAX_NOTE_BYTES else None
    if found is None or found[6] != f"mog/{found[2]}":
        raise StoreDamaged("not a signed checkpoint", where=where, way_out="make a new one: `mog ledger checkpoint`")
    raw = base64.b64decode(found[7])
    root = base64.b64decode(found[4]).hex()
    note = Note(Checkpoint(found[2], int(found[3]), root, found[5]), raw[:4], raw[4:])
    if note.checkpoint.text != found[1] or base64.b64encode(raw).decode("ascii") != found[7]:
        raise StoreDamaged("not a signed checkpoint", where=where, way_out="make a new one: `mog ledger checkpoint`")
    return note


class Signer:
    """A secret key that signs checkpoints."""

    def __init__(self, seed: bytes) -> None:
        """``seed``: the 32 secret bytes of RFC 8032."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()

    def sign(self, checkpoint: Checkpoint) -> str:
        """The signed note of a checkpoint. Raises UsageError for an empty ledger."""
        if checkpoint.size < 1:
            raise UsageError("an empty ledger has nothing to sign", way_out="record something first")
        signature = self._key.sign(checkpoint.text.encode("utf-8"))
        return Note(checkpoint, key_hash(checkpoint.ledger, self.public), signature).text


def default_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where keys are kept: ``MOG_KEYS_DIR``, else the person's own settings folder."""
    chosen = (os.environ if environ is None else environ).get(VARIABLE, "")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs

    return Path(platformdirs.user_config_dir("mog", appauthor=False)) / "keys"


class Keys:
    """The keys of one person: ``ledger.key`` with the secret one, ``known`` with public ones, a line each."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def signer(self) -> Signer:
        """The person's own key; made at the first call.

        Raises:
            StoreDamaged: the file is a link, cannot be made or read, or holds no key.
        """
        path = self.folder / "ledger.key"
        raw = small_files.read(path)
        if raw is None:
            seed = os.urandom(32)
            small_files.write_new(path, base64.b64encode(seed) + b"\n")
            return Signer(seed)
        return Signer(_raw_key(raw, path))

    def known(self) -> tuple[bytes, ...]:
        """Public keys that this person knows, their own first if there is one. Raises StoreDamaged."""
        own = small_files.read(self.folder / "ledger.key")
        path = self.folder / "known"
        others = [_raw_key(line, path) for line in (small_files.read(path) or b"").splitlines() if line.strip()]
        return tuple(dict.fromkeys([*([Signer(_raw_key(own, path)).public] if own is not None else []), *others]))

    def learn(self, key: str) -> None:
        """Know a public key from now on, given as ``key_line`` or as base64 of its 32 bytes.

        Raises:
            UsageError: it is no key.
            StoreDamaged: the list cannot be read or written.
        """
        public = _public(key)
        lines = [*(base64.b64encode(known) for known in self.known()), base64.b64encode(public)]
        small_files.replace(self.folder / "known", b"\n".join(dict.fromkeys(lines)) + b"\n")


def known_signer(note: Note, publics: Iterable[bytes]) -> bytes | None:
    """The first of the keys that signed a note, or None."""
    return next((public for public in publics if note.holds(public)), None)


def _raw_key(line: bytes, path: Path) -> bytes:
    try:
        raw = base64.b64decode(line.strip(), validate=True)
    except binascii.Error:
        raw = b""
    if len(raw) != 32:
        raise StoreDamaged("not a key", where=str(path), way_out="restore it from a copy, or move it away")
    return raw


def _public(key: str) -> bytes:
    try:
        raw = base64.b64decode(key.split("+", 2)[-1] if key.startswith("mog/") else key, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    raw = raw[1:] if len(raw) == 33 and raw[:1] == _KIND else raw
    if len(raw) != 32:
        raise UsageError("not a public key", where=key[:80], way_out="paste the line that `mog ledger checkpoint` shows")
    return raw
