"""Signed checkpoints, the stand-alone verifier and the witness: what they show, and that a changed field shows nothing."""

from __future__ import annotations

import ast
import base64
import json
import os
import shutil
import stat
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_kit import WHEN, changed, fold, step

from mog.engine.errors import HeldByOther, StoreDamaged, UsageError
from mog.engine.ledgers import checkpoints, verifier, verify_ledger
from mog.engine.ledgers.checkpoints import Keys, Signer, key_line, read_note
from mog.engine.ledgers.events import EventLog
from mog.engine.ledgers.witness import Witness

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links differ elsewhere")
SIGNER = Signer(bytes(range(32)))


def filled(log: EventLog, count: int) -> EventLog:
    for i in range(count):
        log.commit([step(("node", str(i), f"é {i}"))], when=WHEN)
    return log


@pytest.fixture
def log(tmp_path):
    with EventLog(tmp_path / ".mog" / "ledger.db") as made:
        yield made


# -- signatures


def test_ed25519_is_that_of_rfc_8032():
    """Section 7.1, tests 1 to 3, with our signer, the library, and the verifier written out by hand."""
    for seed, public, message, signature in (
        ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
        ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
         "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
        ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
    ):  # fmt: skip
        made = Signer(bytes.fromhex(seed))
        assert made.public.hex() == public and made._key.sign(bytes.fromhex(message)).hex() == signature
        given_ = bytes.fromhex(public), bytes.fromhex(message), bytes.fromhex(signature)
        assert verify_ledger.signed(*given_)
        assert not verify_ledger.signed(given_[0], given_[1] + b"x", given_[2])


@settings(max_examples=25, deadline=None)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=40), st.integers(0, 511))
def test_the_hand_written_check_refuses_each_changed_bit(seed, message, bit):
    made = Signer(seed)
    signature = bytearray(made._key.sign(message))
    assert verify_ledger.signed(made.public, message, bytes(signature))
    signature[bit // 8] ^= 1 << bit % 8
    try:
        assert not verify_ledger.signed(made.public, message, bytes(signature))
    except verify_ledger.Refused:
        pass
    # s and s + order stand for the same number; only the smaller one is a signature
    signature[bit // 8] ^= 1 << bit % 8
    s = int.from_bytes(signature[32:], "little") + verify_ledger.ORDER
    assert not verify_ledger.signed(made.public, message, bytes(signature[:32]) + s.to_bytes(32, "little"))


def test_a_checkpoint_is_a_signed_note(log):
    note = filled(log, 3).checkpoint(SIGNER)
    origin, size, root, state, empty, signature, end = note.split("\n")
    assert (origin, size, empty, end) == (f"mog/{log.id}", "3", "", "")
    assert base64.b64decode(root).hex() == log.head().root and state == f"state {log.head().state}"
    dash, name, blob = signature.split(" ")
    assert (dash, name, len(base64.b64decode(blob))) == ("\u2014", origin, 68)
    assert read_note(note).holds(SIGNER.public) and not read_note(note).holds(Signer(bytes(32)).public)


def test_a_changed_note_is_no_note_or_is_not_signed(log):
    note = filled(log, 3).checkpoint(SIGNER)
    for i, letter in enumerate(note):
        bad = note[:i] + ("A" if letter != "A" else "B") + note[i + 1 :]
        try:
            assert not read_note(bad).holds(SIGNER.public), i
        except StoreDamaged as error:
            assert error.way_out
    for bad in ("", note[:-1], note + note, note + "\n", note.replace("\n\n", "\n"), note.replace("\n", "\r\n"), " " + note):
        with pytest.raises(StoreDamaged):
            read_note(bad)


def test_the_checkpoint_in_the_file_says_who_signed_it(log, tmp_path):
    mine, other = Keys(tmp_path / "mine"), Keys(tmp_path / "other")
    assert log.signature(()) is None and not log.signer_known(mine.known())
    filled(log, 2)
    assert log.signature(()) is None and not log.signer_known(mine.known())
    log.checkpoint(mine.signer())
    filled(log, 2)
    assert log.signer_known(mine.known()) and not log.signer_known(other.known())
    assert "+" in key_line("0" * 32, b"\xfb" * 32).split("+", 2)[2]  # base64 has the sign that parts the line
    other.learn(key_line("0" * 32, b"\xfb" * 32))
    assert other.known() == (b"\xfb" * 32,)
    signature = log.signature(other.known())
    assert signature is not None and not signature.known and signature.checkpoint.size == 2
    other.learn(signature.key)
    assert log.signer_known(other.known()) and log.verify(fold()).ok


def test_a_checkpoint_of_another_ledger_or_of_other_events_is_damage(log, tmp_path):
    filled(log, 3).checkpoint(SIGNER)
    with EventLog(tmp_path / "other" / "ledger.db") as other:
        foreign = filled(other, 3).checkpoint(SIGNER)
    ours = changed(log, "SELECT note FROM checkpoint")[0][0]
    later = SIGNER.sign(checkpoints.Checkpoint(log.id, 99, "00" * 32, "00" * 32))
    lie = SIGNER.sign(checkpoints.Checkpoint(log.id, 2, "00" * 32, "00" * 32))
    for note in (foreign, later, lie, ours.replace("state", "State"), "x"):
        changed(log, "UPDATE checkpoint SET note = ?", note)
        with pytest.raises(StoreDamaged) as caught:
            log.signature([SIGNER.public])
        assert caught.value.way_out and [flaw.part for flaw in log.verify().flaws] == ["checkpoint"]


def test_an_empty_ledger_is_not_signed(log):
    with pytest.raises(UsageError):
        log.checkpoint(SIGNER)


def test_a_signer_signs_every_commit(tmp_path):
    with EventLog(tmp_path / "ledger.db", signer=SIGNER) as log:
        for size in (1, 2, 3):
            filled(log, 1)
            signature = log.signature([SIGNER.public])
            assert signature is not None and signature.checkpoint.size == size and signature.known


# -- keys


@posix
def test_the_key_is_made_once_and_for_its_owner_only(tmp_path):
    keys = Keys(tmp_path / "config" / "keys")
    assert keys.known() == () and not keys.folder.exists()
    public = keys.signer().public
    assert keys.signer().public == public and keys.known() == (public,)
    path = keys.folder / "ledger.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(keys.folder.stat().st_mode) == 0o700


@posix
def test_a_key_behind_a_link_is_refused(tmp_path):
    Keys(tmp_path / "real").signer()
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "ledger.key").symlink_to(tmp_path / "real" / "ledger.key")
    with pytest.raises(StoreDamaged, match="link"):
        Keys(tmp_path / "keys").signer()


@pytest.mark.parametrize("content", [b"", b"short", b"!" * 44, b"x" * (2 << 20)])
def test_a_file_that_holds_no_key_is_a_typed_error(tmp_path, content):
    (tmp_path / "ledger.key").write_bytes(content)
    for ask in (Keys(tmp_path).signer, Keys(tmp_path).known):
        with pytest.raises(StoreDamaged) as caught:
            ask()
        assert caught.value.way_out


def test_what_is_no_public_key_is_not_learned(tmp_path):
    for key in ("", "x", "mog/a+b+c", base64.b64encode(bytes(31)).decode()):
        with pytest.raises(UsageError):
            Keys(tmp_path).learn(key)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_keys_can_be_chosen(tmp_path):
    assert checkpoints.default_folder({"MOG_KEYS_DIR": str(tmp_path)}) == tmp_path
    assert checkpoints.default_folder({}).name == "keys"


# -- the stand-alone verifier


@pytest.fixture
def proofs(log, tmp_path):
    old = filled(log, 5).checkpoint(SIGNER)
    new = filled(log, 6).checkpoint(SIGNER)
    documents = {"inclusion.json": json.dumps(log.prove(4)), "consistency.json": json.dumps(log.consistency(5))}
    for name, text in {"old": old, "new": new, **documents}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "key").write_text(key_line(log.id, SIGNER.public), encoding="utf-8")
    return tmp_path


def asked(folder, *what: str, key: str = "") -> int:
    words = [str(folder / word) if word[0] != "-" else word for word in what[1:]]
    return verify_ledger.main([what[0], *words, *(["--key", key] if key else [])])


def test_the_script_runs_alone_with_the_standard_library_only(proofs, tmp_path):
    script = tmp_path / "verify.py"
    script.write_text(verifier.text(), encoding="utf-8")
    key = (proofs / "key").read_text(encoding="utf-8")
    for words in (["inclusion", "inclusion.json", "new"], ["consistency", "consistency.json", "old", "new"]):
        command = [sys.executable, "-I", "-S", str(script), *words, "--key", key]
        done = subprocess.run(command, cwd=proofs, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"") and done.stdout.startswith(b"holds: ")


def test_the_script_imports_nothing_else_and_stays_short():
    tree = ast.parse(verifier.text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= sys.stdlib_module_names and len(verifier.text().splitlines()) <= 200


def test_the_script_says_when_no_signature_was_checked(proofs, capsys):
    assert asked(proofs, "inclusion", "inclusion.json", "new") == 0
    assert "no signature was checked" in capsys.readouterr().out


def test_each_changed_field_of_a_proof_is_refused(proofs):
    key = (proofs / "key").read_text(encoding="utf-8")
    for name, words in (("inclusion", ["new"]), ("consistency", ["old", "new"])):
        sound = json.loads((proofs / f"{name}.json").read_text(encoding="utf-8"))
        assert asked(proofs, name, f"{name}.json", *words, key=key) == 0
        for field, value in sound.items():
            for bad in _others(value):
                (proofs / "bad.json").write_text(json.dumps({**sound, field: bad}), encoding="utf-8")
                assert asked(proofs, name, "bad.json", *words, key=key) in (1, 2), (field, bad)
            (proofs / "bad.json").write_text(json.dumps({k: v for k, v in sound.items() if k != field}), encoding="utf-8")
            assert asked(proofs, name, "bad.json", *words, key=key) == 2, field
    for text in ("", "[]", "null", "[" * 100_000, '{"format": "mog.inclusion.1"}', "\ud800".encode("utf-8", "surrogatepass")):
        (proofs / "bad.json").write_bytes(text.encode() if isinstance(text, str) else text)
        assert asked(proofs, "inclusion", "bad.json", "new") == 2


def _others(value: object) -> list[object]:
    if isinstance(value, int):
        return [value + 1, value - 1, 0, -1, True, None, str(value), float(value) + 0.5, 2**70]
    if isinstance(value, list):
        return [[], value[:-1], value[1:], [*value, value[0]], value[::-1], [value[0][::-1], *value[1:]], None, "x"]
    assert isinstance(value, str)
    return [value + "x", value[1:], "", None, 5, value.replace("e", "f", 1) if "e" in value else value[::-1] + "x", value + "\n"]


def test_old_and_new_cannot_change_places_and_notes_cannot_be_forged(proofs):
    key = (proofs / "key").read_text(encoding="utf-8")
    assert asked(proofs, "consistency", "consistency.json", "new", "old", key=key) == 1
    assert asked(proofs, "consistency", "consistency.json", "old", "old", key=key) == 1
    assert asked(proofs, "inclusion", "inclusion.json", "old", key=key) == 1
    wrong = key_line(read_note((proofs / "new").read_text(encoding="utf-8")).checkpoint.ledger, Signer(bytes(32)).public)
    assert asked(proofs, "inclusion", "inclusion.json", "new", key=wrong) == 1
    note = (proofs / "new").read_text(encoding="utf-8")
    unsigned = note.partition("\n\n")[0] + "\n\n"
    for bad in (note.replace("\u2014", "-"), unsigned, note.replace("\n11\n", "\n011\n"), note[:40], "\n\n"):
        (proofs / "bad").write_text(bad, encoding="utf-8")
        assert asked(proofs, "inclusion", "inclusion.json", "bad", key=key) in (1, 2)
    assert asked(proofs, "inclusion", "inclusion.json", "no such file") == 2
    assert asked(proofs, "inclusion", "inclusion.json", "new", key="nonsense") in (1, 2)


def test_a_ledger_of_a_single_event_and_one_that_did_not_grow(log, tmp_path):
    (tmp_path / "one").write_text(filled(log, 1).checkpoint(SIGNER), encoding="utf-8")
    (tmp_path / "p.json").write_text(json.dumps(log.prove(1)), encoding="utf-8")
    (tmp_path / "c.json").write_text(json.dumps(log.consistency(1)), encoding="utf-8")
    assert asked(tmp_path, "inclusion", "p.json", "one") == 0
    assert asked(tmp_path, "consistency", "c.json", "one", "one") == 0


# -- the witness


@pytest.fixture
def witness(tmp_path):
    return Witness(tmp_path / "state")


def saved(log: EventLog, to) -> None:
    log.close()
    shutil.copytree(log.path.parent, to)


def put_back(log: EventLog, saved_) -> None:
    log.close()
    shutil.rmtree(log.path.parent)
    shutil.copytree(saved_, log.path.parent)


def test_a_rollback_is_refused(tmp_path, witness):
    with EventLog(tmp_path / ".mog" / "ledger.db", witness=witness) as log:
        saved(filled(log, 3), tmp_path / "then")
        filled(log, 2)
        put_back(log, tmp_path / "then")
        for ask in (log.head, log.load, lambda: filled(log, 1), lambda: list(log.events()), log.verify):
            with pytest.raises(StoreDamaged, match="rolled back: the ledger has 3 events, 5 were seen") as caught:
                ask()
            assert caught.value.way_out


def test_a_damaged_head_can_be_repaired_under_the_eyes_of_a_witness(tmp_path, witness):
    with EventLog(tmp_path / ".mog" / "ledger.db", witness=witness) as log:
        filled(log, 3)
        changed(log, "UPDATE head SET seq = 2")
        assert [flaw.part for flaw in log.verify().flaws][:1] == ["head"]
        assert log.rebuild(fold()).seq == 3 and log.verify(fold()).ok and filled(log, 1).head().seq == 4


def test_a_fork_is_refused(tmp_path, witness):
    path = tmp_path / ".mog" / "ledger.db"
    with EventLog(path, witness=witness) as log:
        saved(filled(log, 3), tmp_path / "then")
        filled(log, 2)
        put_back(log, tmp_path / "then")
    with EventLog(path) as elsewhere:
        elsewhere.commit([step(("node", "x", "another history"))] * 4, when=WHEN)
        assert elsewhere.verify(fold()).ok
    with EventLog(path, witness=witness) as log:
        with pytest.raises(StoreDamaged, match="forked"):
            log.head()
        witness.forget(EventLog(path).id)
        assert log.head().seq == 7


def test_what_grew_elsewhere_is_fine_and_is_remembered(tmp_path, witness):
    path = tmp_path / ".mog" / "ledger.db"
    with EventLog(path, witness=witness) as log, EventLog(path) as other:
        filled(log, 3)
        filled(other, 20)
        assert log.head().seq == 23
        filled(log, 1)
        remembered = witness.last(log.id)
        assert remembered is not None and (remembered.size, remembered.root) == (24, log.head().root)


@pytest.mark.parametrize("ask", ["head", "load", "verify"])
@pytest.mark.parametrize("commits", [1, 4])
def test_what_another_writes_while_one_looks_is_no_rollback(tmp_path, witness, monkeypatch, ask, commits):
    """The state being read is older than what was seen of it meanwhile, by any number of commits."""
    path = tmp_path / ".mog" / "ledger.db"
    last = Witness.last
    with EventLog(path, witness=witness) as writer, EventLog(path, witness=witness) as reader:
        filled(writer, 3)
        left = [commits]

        def meanwhile(self, ledger):
            if left[0]:
                left[0] -= 1
                monkeypatch.setattr(Witness, "last", last)
                filled(writer, 1)
                monkeypatch.setattr(Witness, "last", meanwhile)
            return last(self, ledger)

        monkeypatch.setattr(Witness, "last", meanwhile)
        getattr(reader, ask)()
        monkeypatch.setattr(Witness, "last", last)
        assert left[0] < commits and reader.head().seq == 3 + commits - left[0]


def test_two_ledgers_are_two_witnesses(tmp_path, witness):
    paths = (tmp_path / name / "ledger.db" for name in "ab")
    one, two = (EventLog(path, witness=witness) for path in paths)
    with one, two:
        filled(one, 1)
        filled(two, 2)
        assert one.id != two.id and one.head().seq == 1 and two.head().seq == 2


def test_a_witness_that_cannot_write_does_not_unmake_a_commit(tmp_path):
    (tmp_path / "state").write_text("no folder", encoding="utf-8")
    with EventLog(tmp_path / ".mog" / "ledger.db", witness=Witness(tmp_path / "state")) as log:
        assert log.commit([step(("node", "a", "x"))], when=WHEN)[0].seq == 1
        assert log.unwitnessed is not None and log.unwitnessed.way_out


@pytest.mark.parametrize("content", [b"", b"{}", b"x\n\n", b'{"size": 1}\n00\n'])
def test_a_changed_memory_of_the_witness_is_said(tmp_path, witness, content):
    with EventLog(tmp_path / ".mog" / "ledger.db", witness=witness) as log:
        filled(log, 1).close()
        next(witness.folder.iterdir()).write_bytes(content)
        with pytest.raises(StoreDamaged, match="witness's own file") as caught:
            log.head()
        assert "remove" in caught.value.way_out


@posix
def test_the_memory_of_the_witness_is_for_its_owner_only(tmp_path, witness):
    with EventLog(tmp_path / ".mog" / "ledger.db", witness=witness) as log:
        filled(log, 2)
    assert {stat.S_IMODE(path.stat().st_mode) for path in witness.folder.iterdir()} == {0o600}
    assert stat.S_IMODE(witness.folder.stat().st_mode) == 0o700 and len(list(witness.folder.iterdir())) == 1


@posix
@pytest.mark.parametrize("what", ["link", "pipe"])
def test_what_is_planted_for_the_witness_is_neither_written_through_nor_waited_for(tmp_path, witness, what):
    with EventLog(tmp_path / ".mog" / "ledger.db") as log:
        filled(log, 1)
        victim, place = tmp_path / "victim", witness.folder / f"{log.id}.json"
        victim.write_bytes(b"x" * 512)
        witness.folder.mkdir()
        place.symlink_to(victim) if what == "link" else os.mkfifo(place)
        with EventLog(log.path, witness=witness) as watched, pytest.raises(StoreDamaged) as caught:
            watched.head()
        assert caught.value.way_out and victim.read_bytes() == b"x" * 512
        witness.keep(checkpoints.Checkpoint(log.id, 1, log.head().root, log.head().state))
        assert victim.read_bytes() == b"x" * 512 and place.is_file() and not place.is_symlink()


def test_a_refused_commit_is_not_remembered(tmp_path, witness):
    with EventLog(tmp_path / ".mog" / "ledger.db", witness=witness) as log:
        before = log.head()
        filled(log, 1)
        with pytest.raises(HeldByOther):
            log.commit([step()], when=WHEN, expected=before)
        assert witness.last(log.id).size == 1
