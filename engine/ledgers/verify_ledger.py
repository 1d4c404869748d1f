#!/usr/bin/env python3
"""Check proofs of a mog ledger without mog: Python's standard library is all that this file needs.

    verify_ledger.py inclusion   PROOF.json CHECKPOINT [--key KEY]      one event is in the ledger of the checkpoint
    verify_ledger.py consistency PROOF.json OLD NEW    [--key KEY]      the ledger of OLD is the beginning of that of NEW

Proofs are what ``mog ledger prove`` prints, checkpoints what ``mog ledger checkpoint`` prints, KEY is the line that comes
with it (mog/…+…+…). Exit code 0: it holds. 1: it does not. 2: the files cannot be read. Without KEY no signature is checked,
and whoever made the checkpoint could have made it of anything.

Hashes: RFC 9162, section 2.1. Signatures: Ed25519 (RFC 8032, section 5.1) over a C2SP signed note.
"""

import argparse
import base64
import binascii
import hashlib
import json
import sys

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


class Refused(Exception):
    """What was to be shown is not shown."""


def sha(data):
    return hashlib.sha256(data).digest()


def node(left, right):
    return sha(b"\1" + left + right)


def root_from_inclusion(leaf, index, size, path):
    """The root that the path leads to from leaf number index (from 0); RFC 9162, 2.1.3.2."""
    at, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise Refused("the proof is too long")
        if at & 1 or at == last:
            found = node(sibling, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node(found, sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise Refused("the proof is too short")
    return found


def roots_from_consistency(old, size, path, old_root):
    """The old and the new root that the path leads to; RFC 9162, 2.1.4.2."""
    if old == size:
        if path:
            raise Refused("the proof is too long")
        return old_root, old_root
    hashes = path if old & (old - 1) else [old_root, *path]
    if not hashes:
        raise Refused("the proof is too short")
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            raise Refused("the proof is too long")
        if at & 1 or at == last:
            before, after = node(sibling, before), node(sibling, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node(after, sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise Refused("the proof is too short")
    return before, after


# -- Ed25519: points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar, point):
    found = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            found = add(found, point)
        point, scalar = add(point, point), scalar >> 1
    return found


def point_of(raw):
    """The point of its 32 bytes; None when there is none."""
    value = int.from_bytes(raw, "little")
    y, sign = value & ((1 << 255) - 1), value >> 255
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signed(public, message, signature):
    """Whether the signature is that of the public key over the message."""
    key, r, s = point_of(public), point_of(signature[:32]), int.from_bytes(signature[32:], "little")
    if len(public) != 32 or len(signature) != 64 or key is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    left, right = times(s, BASE), add(r, times(k, key))
    return not ((left[0] * right[2] - right[0] * left[2]) % P or (left[1] * right[2] - right[1] * left[2]) % P)


# -- files


def checkpoint(path, key):
    """(origin, size, root) of a checkpoint file, with the signature checked when there is a key."""
    with open(path, encoding="utf-8", newline="") as file:
        text, found, signatures = file.read().partition("\n\n")
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    if not (found and origin.startswith("mog/") and size.isascii() and size.isdigit() and size != "0" and size[0] != "0"):
        raise ValueError("not a checkpoint of a ledger with events")
    if key and not any(carries(line, origin, text.encode(), key) for line in signatures.splitlines()):
        raise Refused(f"{path} is not signed with that key")
    return origin, int(size), exactly(base64.b64decode(root, validate=True))


def carries(line, origin, text, key):
    name, key_hash, blob = key.rsplit("+", 2)
    raw = base64.b64decode(blob, validate=True)
    if name != origin or raw[:1] != b"\1" or sha(f"{name}\n".encode() + raw)[:4].hex() != key_hash:
        raise Refused("that key is not one of this ledger")
    parts = line.split(" ")
    if len(parts) != 3 or parts[0] != "\u2014" or parts[1] != name:
        return False
    given = base64.b64decode(parts[2], validate=True)
    return given[:4].hex() == key_hash and signed(raw[1:], text, given[4:])


def exactly(raw):
    if len(raw) != 32:
        raise ValueError("a hash has 32 bytes")
    return raw


def proof(path, form):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if not isinstance(found, dict) or found.get("format") != form:
        raise ValueError(f"not a proof of the form {form}")
    return found, [exactly(base64.b64decode(text, validate=True)) for text in found["path"]]


def inclusion(arguments):
    found, path = proof(arguments.proof, "mog.inclusion.1")
    origin, size, root = checkpoint(arguments.checkpoint, arguments.key)
    seq, event = found["seq"], found["event"].encode()
    if type(seq) is not int or not 0 < seq <= size or found["size"] != size or f"mog/{found['ledger']}" != origin:
        raise Refused("proof and checkpoint are of different ledgers or sizes")
    prev, before, after = (exactly(bytes.fromhex(found[name])) for name in ("prev", "state_before", "state_after"))
    digest = sha(b"mog.event.1" + prev + seq.to_bytes(8, "big") + event)
    if root_from_inclusion(sha(b"\0mog.leaf.1" + digest + before + after), seq - 1, size, path) != root:
        raise Refused(f"event {seq} as it stands in the proof is not in the ledger of the checkpoint")
    return f"event {seq} of {size} in {origin}: {found['event']}"


def consistency(arguments):
    found, path = proof(arguments.proof, "mog.consistency.1")
    origin, old, old_root = checkpoint(arguments.old, arguments.key)
    later, size, root = checkpoint(arguments.new, arguments.key)
    if origin != later or f"mog/{found['ledger']}" != origin or (found["old"], found["size"]) != (old, size) or old > size:
        raise Refused("proof and checkpoints are of different ledgers or sizes")
    if roots_from_consistency(old, size, path, old_root) != (old_root, root):
        raise Refused("the ledger of the old checkpoint is not the beginning of that of the new one")
    return f"the first {old} of {size} events in {origin} are those of the old checkpoint"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, files in ((inclusion, ("proof", "checkpoint")), (consistency, ("proof", "old", "new"))):
        words = verbs.add_parser(verb.__name__)
        words.set_defaults(run=verb)
        for name in files:
            words.add_argument(name)
        words.add_argument("--key", default="")
    arguments = parser.parse_args(argv)
    try:
        said = arguments.run(arguments)
    except Refused as error:
        print(f"does not hold: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
        print(f"cannot be read: {error!r}", file=sys.stderr)
        return 2
    print("holds" + ("" if arguments.key else " (no signature was checked)") + ": " + ascii(said)[1:-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
