"""The Merkle tree by the words of RFC 9162: roots and proofs recomputed naively, then every field of a proof changed."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_kit import WHEN, changed, step

from mog.engine.errors import NotFound, StoreDamaged, UsageError
from mog.engine.ledgers import chain, merkle, verify_ledger
from mog.engine.ledgers.events import EventLog

LEAVES = [merkle.leaf_hash(b"%d" % i) for i in range(70)]


def split(size: int) -> int:
    power = 1
    while power * 2 < size:
        power *= 2
    return power


def naive_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 9162, 2.1.1, over leaf hashes."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return hashlib.sha256(b"\1" + naive_root(leaves[:k]) + naive_root(leaves[k:])).digest()


def naive_path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of 2.1.3.1."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if index < k:
        return [*naive_path(index, leaves[:k]), naive_root(leaves[k:])]
    return [*naive_path(index - k, leaves[k:]), naive_root(leaves[:k])]


def naive_subproof(old: int, leaves: list[bytes], whole: bool) -> list[bytes]:
    """SUBPROOF of 2.1.4.1."""
    if old == len(leaves):
        return [] if whole else [naive_root(leaves)]
    k = split(len(leaves))
    if old <= k:
        return [*naive_subproof(old, leaves[:k], whole), naive_root(leaves[k:])]
    return [*naive_subproof(old - k, leaves[k:], False), naive_root(leaves[:k])]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 70])
def test_roots_are_those_of_the_definition(size):
    assert merkle.root(size, merkle.subtree_of(LEAVES[:size])) == naive_root(LEAVES[:size])


@pytest.mark.parametrize("start", [0, 1, 3, 8, 13])
def test_a_tree_that_grows_leaf_by_leaf_has_the_same_roots_and_nodes(start):
    edge = merkle.Frontier(start, merkle.subtree_of(LEAVES[:start]))
    for size in range(start + 1, len(LEAVES) + 1):
        made = edge.add(LEAVES[size - 1])
        assert edge.root() == naive_root(LEAVES[:size])
        assert [level for level, _, _ in made] == [k for k in range(1, 7) if size % (1 << k) == 0]
        assert all(node == naive_root(LEAVES[i << k : (i + 1) << k]) for k, i, node in made)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 70), st.data())
def test_inclusion_proofs_hold_and_no_changed_one_does(size, data):
    index = data.draw(st.integers(0, size - 1))
    root, path = naive_root(LEAVES[:size]), merkle.inclusion(index, size, merkle.subtree_of(LEAVES[:size]))
    assert path == naive_path(index, LEAVES[:size])
    assert merkle.verify_inclusion(LEAVES[index], index, size, path, root)
    other = bytes([root[0] ^ 1]) + root[1:]
    hostile = [
        (LEAVES[index], index, size, [*path, root], root), (LEAVES[index], index, size, [LEAVES[0], *path], root),
        (LEAVES[index], index, size, path, other), (other, index, size, path, root), (b"", index, size, path, root),
        (LEAVES[index], -1, size, path, root), (LEAVES[index], size, size, path, root), (LEAVES[index], index, 0, path, root),
        (LEAVES[index], index, size, path, b""), (b"", 0, 1, [], b""),
    ]  # fmt: skip
    if path:
        at = data.draw(st.integers(0, len(path) - 1))
        changed_path = [*path[:at], bytes([path[at][0] ^ 1]) + path[at][1:], *path[at + 1 :]]
        hostile += [(LEAVES[index], index, size, bad, root) for bad in (changed_path, path[:-1], path[1:], [])]
    for leaf, i, n, bad, head in hostile:
        assert not merkle.verify_inclusion(leaf, i, n, bad, head)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 70), st.data())
def test_consistency_proofs_hold_and_no_changed_one_does(size, data):
    old = data.draw(st.integers(1, size))
    roots = naive_root(LEAVES[:old]), naive_root(LEAVES[:size])
    path = merkle.consistency(old, size, merkle.subtree_of(LEAVES[:size]))
    assert path == naive_subproof(old, LEAVES[:size], True)
    assert merkle.verify_consistency(old, size, path, *roots)
    other = bytes([roots[0][0] ^ 1]) + roots[0][1:]
    hostile = [
        (old, size, [*path, roots[0]], *roots), (old, size, path, other, roots[1]), (old, size, path, roots[0], other),
        (0, size, path, *roots), (size + 1, size, path, *roots), (old, size, [roots[0], *path], *roots),
        (0, size, [], hashlib.sha256(b"").digest(), roots[1]), (0, 0, [], other, other),
    ]  # fmt: skip
    if old < size:
        hostile += [(old, size, bad, *roots) for bad in (path[:-1], path[1:], [], [roots[1]])]
        hostile += [(old, size, path, roots[1], roots[0])]
    for o, n, bad, before, after in hostile:
        assert not merkle.verify_consistency(o, n, bad, before, after)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 70), st.data())
def test_the_stand_alone_verifier_agrees(size, data):
    old, index = data.draw(st.integers(1, size)), data.draw(st.integers(0, size - 1))
    roots, tree = (naive_root(LEAVES[:old]), naive_root(LEAVES[:size])), merkle.subtree_of(LEAVES[:size])
    assert verify_ledger.roots_from_consistency(old, size, merkle.consistency(old, size, tree), roots[0]) == roots
    assert verify_ledger.climb(index, size - 1, LEAVES[index], merkle.inclusion(index, size, tree))[1] == roots[1]


def test_proofs_of_what_there_is_not_are_refused():
    tree = merkle.subtree_of(LEAVES[:5])
    for old, size in ((0, 5), (6, 5), (-1, 5)):
        with pytest.raises(UsageError):
            merkle.consistency(old, size, tree)
    for index in (-1, 5):
        with pytest.raises(UsageError):
            merkle.inclusion(index, 5, tree)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    with EventLog(tmp_path_factory.mktemp("merkle") / "ledger.db") as made:
        for i in range(45):
            made.commit([step(("t", str(i % 7), f"{i}"))], when=WHEN)
        yield made


def leaves_of(log: EventLog) -> list[bytes]:
    states = [bytes.fromhex("00"), *(row[0] for row in changed(log, "SELECT root FROM states ORDER BY seq"))]
    states[0] = hashlib.sha256(b"mog.state.1").digest()
    digests = [bytes.fromhex(event.digest) for event in log.events()]
    return [
        hashlib.sha256(b"\0mog.leaf.1" + digest + before + after).digest()
        for digest, before, after in zip(digests, states, states[1:], strict=False)
    ]


def test_the_stored_tree_is_that_of_its_events(log):
    assert log.head().root == naive_root(leaves_of(log)).hex()


def test_the_log_proves_each_event_and_each_beginning(log):
    import base64

    leaves, head = leaves_of(log), log.head()
    for seq in (1, 2, 8, 9, 33, 44, 45):
        proof = log.prove(seq)
        prev, before, after = (base64.b64decode(proof[name]) for name in ("prev", "state_before", "state_after"))
        digest = chain.event_digest(prev, seq, proof["event"].encode())
        assert merkle.leaf_hash(chain.leaf_data(digest, before, after)) == leaves[seq - 1]
        path = [base64.b64decode(text) for text in proof["path"]]
        assert merkle.verify_inclusion(leaves[seq - 1], seq - 1, 45, path, bytes.fromhex(head.root))
        path = [base64.b64decode(text) for text in log.consistency(seq)["path"]]
        assert merkle.verify_consistency(seq, 45, path, naive_root(leaves[:seq]), bytes.fromhex(head.root))


def test_a_log_proves_nothing_that_it_has_not(log, tmp_path):
    for seq in (0, -1, 46):
        with pytest.raises(NotFound):
            log.prove(seq)
        with pytest.raises(UsageError):
            log.consistency(seq)
    with EventLog(tmp_path / "ledger.db") as empty:
        with pytest.raises(NotFound):
            empty.prove(1)
        with pytest.raises(UsageError):
            empty.consistency(1)


def test_a_proof_over_changed_nodes_is_not_given_out(log, tmp_path):
    import shutil

    log.close()
    shutil.copy(log.path, tmp_path / "ledger.db")
    with EventLog(tmp_path / "ledger.db") as copy:
        changed(copy, "UPDATE subtrees SET hash = zeroblob(32) WHERE level = 4 AND idx = 1")
        with pytest.raises(StoreDamaged):
            copy.prove(3)
        with pytest.raises(StoreDamaged):
            copy.consistency(3)
        changed(copy, "DELETE FROM subtrees")
        with pytest.raises(StoreDamaged, match="gone"):
            copy.prove(3)
