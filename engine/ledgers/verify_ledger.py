#!/usr/bin/env python3
"""Check proofs of a mog ledger without mog: Python's standard library is all that this file needs.

    verify_ledger.py inclusion   PROOF.json CHECKPOINT [--key KEY]     one event is in the ledger of the checkpoint
    verify_ledger.py consistency PROOF.json OLD NEW    [--key KEY]     the ledger of OLD is the beginning of that of NEW

Proofs are what ``mog ledger prove`` prints, checkpoints and KEY (mog/…+…+…) what ``mog ledger checkpoint`` prints. Exit
code 0: it holds; 1: it does not; 2: the files cannot be read. Without KEY no signature is checked, and whoever made the
checkpoint may have made it of anything. Hashes: RFC 9162, 2.1. Signatures: Ed25519 (RFC 8032, 5.1) on C2SP signed notes.
"""

import argparse
import base64
import hashlib
import json
import sys
from typing import Any

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
Point = tuple[int, int, int, int]


class Refused(Exception):
    """What was to be shown is not shown."""


def sha(data: bytes) -> bytes:
    """SHA-256."""
    return hashlib.sha256(data).digest()


def climb(at: int, last: int, first: bytes, path: list[bytes]) -> tuple[bytes, bytes]:
    """The roots of the tree that ends here and of the whole one, from node ``at`` of a level whose last node is ``last``.

    The steps of RFC 9162, 2.1.4.2; an inclusion proof (2.1.3.2) takes the same and asks for the second root only.
    """
    before = after = first
    for sibling in path:
        if last == 0:
            raise Refused("the proof is too long")
        if at & 1 or at == last:
            before, after = sha(b"\1" + sibling + before), sha(b"\1" + sibling + after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = sha(b"\1" + after + sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise Refused("the proof is too short")
    return before, after


def roots_from_consistency(old: int, size: int, path: list[bytes], old_root: bytes) -> tuple[bytes, bytes]:
    """The old and the new root that the path leads to, 0 < old ≤ size."""
    if old == size:
        return (old_root, old_root) if not path else (b"", b"")
    hashes = path if old & (old - 1) else [old_root, *path]
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    return climb(at, last, hashes[0], hashes[1:])


def add(p: Point, q: Point) -> Point:
    """Sum of two points (X, Y, Z, T) of the curve, x = X/Z, y = Y/Z, xy = T/Z."""
    a, b, c, d = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0]), 2 * p[3] * q[3] * D, 2 * p[2] * q[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar: int, point: Point) -> Point:
    """A multiple of a point."""
    found = (0, 1, 1, 0)
    for bit in bin(scalar)[2:]:
        found = add(found, found)
        found = add(found, point) if bit == "1" else found
    return found


def point_of(raw: bytes) -> Point:
    """The point of its 32 bytes."""
    value = int.from_bytes(raw, "little")
    y, sign = value & ((1 << 255) - 1), value >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if len(raw) != 32 or y >= P or (x * x - square) % P or (x == 0 and sign):
        raise Refused("a key or signature that is no point of the curve")
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature over the message is that of the public key."""
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    left, right = times(s, BASE), add(point_of(signature[:32]), times(k, point_of(public)))
    return not any((left[i] * right[2] - right[i] * left[2]) % P for i in (0, 1))


def hash_of(text: str) -> bytes:
    """The 32 bytes of a hash in base64."""
    raw = base64.b64decode(text, validate=True)
    if len(raw) != 32:
        raise ValueError("a hash has 32 bytes")
    return raw


def checkpoint(path: str, key: str) -> tuple[str, int, bytes]:
    """Origin, size and root of a checkpoint file; with a key its signature is checked."""
    with open(path, encoding="utf-8", newline="") as file:
        text, found, signatures = file.read().partition("\n\n")
    origin, size, root = text.split("\n")[:3]
    if not (found and origin.startswith("mog/") and size.isascii() and size.isdigit() and size[0] != "0"):
        raise ValueError("not a checkpoint of a ledger with events")
    if key and not any(carries(line, origin, f"{text}\n".encode(), key) for line in signatures.split("\n")):
        raise Refused(f"{path} is not signed with that key")
    return origin, int(size), hash_of(root)


def carries(line: str, origin: str, text: bytes, key: str) -> bool:
    """Whether a line of a note is the signature of the key over its text."""
    name, key_hash, blob = key.split("+", 2)
    raw = base64.b64decode(blob, validate=True)
    if name != origin or raw[:1] != b"\1" or sha(f"{name}\n".encode() + raw)[:4].hex() != key_hash:
        raise Refused("that key is not one of this ledger")
    if not line.startswith(f"\u2014 {name} "):
        return False
    given = base64.b64decode(line.rpartition(" ")[2], validate=True)
    return given[:4].hex() == key_hash and signed(raw[1:], text, given[4:])


def proof(path: str, form: str) -> tuple[dict[str, Any], list[bytes]]:
    """A proof file and the hashes in it."""
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if not isinstance(found, dict) or found.get("format") != form:
        raise ValueError(f"not a proof of the form {form}")
    return found, [hash_of(text) for text in found["path"]]


def inclusion(arguments: argparse.Namespace) -> str:
    """Check an inclusion proof; what it shows."""
    found, path = proof(arguments.proof, "mog.inclusion.1")
    origin, size, root = checkpoint(arguments.checkpoint, arguments.key)
    seq, event = found["seq"], found["event"].encode()
    if type(seq) is not int or not 0 < seq <= size or [f"mog/{found['ledger']}", found["size"]] != [origin, size]:
        raise Refused("proof and checkpoint are of different ledgers or sizes")
    prev, before, after = (hash_of(found[name]) for name in ("prev", "state_before", "state_after"))
    digest = sha(b"mog.event.1" + prev + seq.to_bytes(8, "big") + event)
    if climb(seq - 1, size - 1, sha(b"\0mog.leaf.1" + digest + before + after), path)[1] != root:
        raise Refused(f"event {seq} as it stands in the proof is not in the ledger of the checkpoint")
    return f"event {seq} of {size} in {origin}: {found['event']}"


def consistency(arguments: argparse.Namespace) -> str:
    """Check a consistency proof; what it shows."""
    found, path = proof(arguments.proof, "mog.consistency.1")
    (origin, old, old_root), (later, size, root) = (checkpoint(f, arguments.key) for f in (arguments.old, arguments.new))
    if origin != later or f"mog/{found['ledger']}" != origin or [found["old"], found["size"]] != [old, size] or old > size:
        raise Refused("proof and checkpoints are of different ledgers or sizes")
    if roots_from_consistency(old, size, path, old_root) != (old_root, root):
        raise Refused("the ledger of the old checkpoint is not the beginning of that of the new one")
    return f"the first {old} of {size} events in {origin} are those of the old checkpoint"


def main(argv: list[str] | None = None) -> int:
    """Run one check; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, names in ((inclusion, ("proof", "checkpoint")), (consistency, ("proof", "old", "new"))):
        words = verbs.add_parser(verb.__name__)
        words.set_defaults(run=verb)
        words.add_argument("--key", default="")
        for name in names:
            words.add_argument(name)
    arguments = parser.parse_args(argv)
    try:
        said = arguments.run(arguments)
    except Refused as error:
        print(f"does not hold: {ascii(str(error))[1:-1]}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        print(f"cannot be read: {error!r}", file=sys.stderr)
        return 2
    print("holds" + ("" if arguments.key else " (no signature was checked)") + ": " + ascii(said)[1:-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
