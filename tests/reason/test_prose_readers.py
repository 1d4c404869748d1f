"""Readers of files, folders, git and exports: what is taken, what is skipped and why, and that no person is stored."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from prose_kit import claims, doc, mesh_at, take

from mog.engine.errors import NotFound, UsageError
from mog.engine.reason.prose import analysis, front, gitlog, issues_export, readers
from mog.engine.reason.prose.documents import MAX_DOCUMENT, Document, Skipped


def read(key: str, text: str | bytes) -> Document | Skipped:
    return readers.from_bytes(key, text.encode() if isinstance(text, str) else text)


def document(key: str, text: str) -> Document:
    found = read(key, text)
    assert isinstance(found, Document), found
    return found


def labels(found: Document) -> list[str]:
    return [said.statement.label for said in analysis.read(found).said]


# -- front matter


def test_front_matter_gives_title_dates_status_and_entities() -> None:
    found = document(
        "a.md",
        "---\ntitle: My page\ndate: 2024-02-29\nstatus: draft\nentities: [Alpha, Beta Gamma]\n---\n# Other\n\nIt is so.\n",
    )
    assert (found.title, found.retrieved_at, found.facts["status"]) == ("My page", "2024-02-29", "draft")
    assert found.entities == ("Alpha", "Beta Gamma") and labels(found) == ["It is so."]
    text = found.text
    (said,) = analysis.read(found).said
    assert text[said.statement.start : said.statement.end] == "It is so."


@pytest.mark.parametrize(
    ("matter", "where"),
    [
        ("a: &x [1]\nb: *x", "a.md:3"),
        ("a: [", "a.md"),
        ("- a\n- b", "a.md"),
        ("date: soon", "a.md: date"),
        ("date: 2024-13-45", "a.md"),
        ("entities: {a: b}", "a.md: entities"),
        ("a: !!python/object/apply:os.system ['true']", "a.md"),
    ],
)
def test_broken_front_matter_skips_the_file_and_names_the_spot(matter: str, where: str) -> None:
    found = read("a.md", f"---\n{matter}\n---\nIt is so.\n")
    assert isinstance(found, Skipped) and where in found.reason


def test_a_rule_above_a_paragraph_is_no_front_matter() -> None:
    assert labels(document("a.md", "---\nIt is a paragraph here.\n---\n\nIt ends there.\n"))[-1] == "It ends there."


def test_an_alias_bomb_costs_nothing() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(UsageError, match="aliases"):
        front.parse(f"---\n{bomb}---\n", "a.md")


# -- files and folders


def test_the_form_is_told_by_name_and_text() -> None:
    rest = "T\n====\n\n.. note:: x\n\nUse :ref:`y <z>`.\n"
    adr = "# X\n\n## Decision\n\nWe do it.\n"
    cases = {"a.md": ("# T", "markdown"), "a.rst": ("T", "rest"), "a.txt": (rest, "rest"), "b.txt": ("Plain text.", "text"),
             "docs/adr/0001-x.md": (adr, "adr"), "0001-x.md": (adr, "adr"), "notes/x.md": (adr, "markdown"),
             "adr/README.md": ("# X", "markdown")}  # fmt: skip
    assert {key: document(key, text).form for key, (text, _) in cases.items()} == {
        key: form for key, (_, form) in cases.items()
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x01\x02", "no text"),
        (b"caf\xe9 is latin-1.", "no text"),
        (b"x" * (MAX_DOCUMENT + 1), "longer"),
        (
            b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEpAIBAAKCAQEA7bq\n" * 20 + b"-----END RSA PRIVATE KEY-----\n",
            "gated",
        ),
    ],
)
def test_what_is_no_text_is_skipped_with_its_reason(data: bytes, reason: str) -> None:
    found = read("a.md", data)
    assert isinstance(found, Skipped) and found.reason.startswith(reason)


def test_marks_of_byte_order_are_understood() -> None:
    for data in ("It is so.".encode("utf-8-sig"), "It is so.".encode("utf-16")):
        found = read("a.md", data)
        assert isinstance(found, Document) and found.text == "It is so."


def test_a_value_that_is_a_credential_never_reaches_a_claim() -> None:
    token = "ghp_" + "FAKE" * 9
    found = read("a.md", f"The deploy token is {token} and it is used at night.\n")
    assert isinstance(found, Skipped) or token not in found.text


def test_a_folder_is_walked_in_order_and_links_are_not_followed(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "sub/c.rst", "sub/skip.py", ".hidden/d.md", "node_modules/e.md"):
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("It is a file of text.\n", encoding="utf-8")
    (tmp_path / "outside.md").write_text("It is outside.", encoding="utf-8")
    (tmp_path / "tree" / "bad.md").write_bytes(b"\xff\xfe\xff")
    try:
        (tmp_path / "tree" / "link.md").symlink_to(tmp_path / "outside.md")
        (tmp_path / "tree" / "loop").symlink_to(tmp_path / "tree", target_is_directory=True)
        linked = [("docs/link.md", "a link")]
    except OSError:
        linked = []
    found = list(readers.folder(tmp_path / "tree", prefix="docs/"))
    assert [each.key for each in found if isinstance(each, Document)] == ["docs/a.md", "docs/b.md", "docs/sub/c.rst"]
    assert [(each.where, each.reason) for each in found if isinstance(each, Skipped)][1:] == linked
    only = list(readers.folder(tmp_path / "tree", globs=["sub/*"]))
    assert [each.key for each in only if isinstance(each, Document)] == ["sub/c.rst", "sub/skip.py"]
    with pytest.raises(NotFound):
        list(readers.folder(tmp_path / "none"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    assert list(readers.folder(tmp_path)) == [Skipped("a.md", "no regular file")]


def test_a_document_needs_a_key_and_a_form() -> None:
    for key, form in ((" ", "markdown"), ("a", "pdf")):
        with pytest.raises(UsageError):
            doc(key, "x", form)


# -- git


def git(folder: Path, *arguments: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada Hidden",
           "GIT_AUTHOR_EMAIL": "ada@hidden.example",
           "GIT_COMMITTER_NAME": "Carl Hidden", "GIT_COMMITTER_EMAIL": "carl@hidden.example",
           "GIT_AUTHOR_DATE": "2024-03-01T23:30:00-0800",
           "GIT_COMMITTER_DATE": "2024-03-02T23:30:00-0800"}  # fmt: skip
    subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )


MESSAGE = """Fix the crash of OrderView when a cart is empty. Again

The view assumed that a cart has a first item. It now returns an empty list.
Thanks to Grace Hidden for the report, and
Kurt Hidden for the review.

$ python run.py is not prose. It is code.

Co-authored-by: Eve Hidden <eve@hidden.example>
Signed-off-by: Ada Hidden <ada@hidden.example>
"""


@pytest.fixture
def history(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    for message in ("Add the shop", MESSAGE, "Merge branch 'x' into main"):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", message)
    return tmp_path


def test_commits_come_newest_first_with_their_day(history: Path) -> None:
    merge, fix, first = gitlog.commits(history)
    assert isinstance(merge, Skipped) and merge.reason == "a merge"
    assert isinstance(fix, Document) and isinstance(first, Document)
    assert (fix.kind, fix.retrieved_at, fix.title) == (
        "commit",
        "2024-03-02",
        "Fix the crash of OrderView when a cart is empty. Again",
    )
    assert len(list(gitlog.commits(history, limit=1))) == 1
    for bad in ("--all", "-n1", " "):
        with pytest.raises(UsageError):
            list(gitlog.commits(history, since=bad))


def test_nobody_is_stored(history: Path, tmp_path: Path) -> None:
    mesh = mesh_at(tmp_path / "mesh")
    take(mesh, *gitlog.commits(history))
    assert set(claims(mesh)) == {
        "Add the shop", "Fix the crash of OrderView when a cart is empty. Again",
        "The view assumed that a cart has a first item.",
        "It now returns an empty list.",
    }  # fmt: skip
    mesh.log.close()
    stored = (tmp_path / "mesh" / "ledger.db").read_bytes()
    assert b"Hidden" not in stored and b"hidden.example" not in stored
    assert b"OrderView" in json.dumps([node.label for node in mesh.graph.nodes()]).encode()


def test_a_long_history_comes_in_batches(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitlog, "BATCH", 2)
    assert len(list(gitlog.commits(history))) == 3


# -- issues

ISSUE = {
    "number": 7, "title": "OrderView fails on empty carts",
    "body": "The view raises an error. @grace saw it, mail ada@hidden.example.\n\n```\ncode is out. Yes.\n```",
    "state": "OPEN", "createdAt": "2024-01-02T03:04:05Z", "labels": [{"name": "bug"}, "shop"],
    "user": {"login": "grace"}, "author": {"name": "Ada Hidden"},
    "url": "https://example.org/7", "comments": [{"body": "It is fixed by the new cart.", "author": {"login": "grace"}}],
}  # fmt: skip


def export(tmp_path: Path, *lines: str) -> list[Document | Skipped]:
    path = tmp_path / "issues.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return list(issues_export.issues(path))


def test_an_export_under_either_spelling(tmp_path: Path) -> None:
    api = {
        "id": 8,
        "title": "Carts lose their items at night",
        "body": None,
        "created_at": "2024-02-01",
        "comments": 3,
        "html_url": "https://example.org/8",
    }
    first, second = export(tmp_path, json.dumps(ISSUE), "", json.dumps(api))
    assert isinstance(first, Document) and isinstance(second, Document)
    assert (first.key, first.retrieved_at, first.origin) == ("issue:7", "2024-01-02", "https://example.org/7")
    assert first.facts == {"number": "7", "labels": ["bug", "shop"], "state": "open", "created": "2024-01-02"}
    assert labels(first) == [
        "OrderView fails on empty carts",
        "The view raises an error.",
        "It is fixed by the new cart.",
    ] or "grace" not in " ".join(labels(first))
    assert "grace" not in " ".join(labels(first)) and "hidden" not in " ".join(labels(first))
    assert labels(second) == ["Carts lose their items at night"]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"title": "x"}', "number"),
        ('{"number": true, "title": "x"}', "number"),
        ('{"number": 1}', "title"),
        ('{"number": 1, "title": 2}', "title"),
        ('{"number": 1, "title": "x", "body": []}', "body"),
        ('{"number": 1, "title": "x", "labels": "y"}', "labels"),
        ('{"number": 1, "title": "x", "comments": [3]}', "comments"),
        ('{"number": 1, "title": "x", "createdAt": "soon"}', "createdAt"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_line_is_skipped_and_the_next_one_is_read(tmp_path: Path, line: str, field: str) -> None:
    bad, good = export(tmp_path, line, json.dumps(ISSUE))
    assert isinstance(bad, Skipped) and bad.where == "issues.jsonl:1" and field in bad.reason
    assert isinstance(good, Document)


def test_an_endless_line_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issues_export, "MAX_LINE", 2_000)
    bad, good = export(tmp_path, json.dumps(ISSUE | {"body": "x" * 9_000}), json.dumps(ISSUE))
    assert isinstance(bad, Skipped) and isinstance(good, Document)
    with pytest.raises(NotFound):
        list(issues_export.issues(tmp_path / "none"))


def test_surrogates_of_an_export_do_no_harm(tmp_path: Path) -> None:
    (found,) = export(
        tmp_path, '{"number": 1, "title": "The cart \\ud800 is broken again", "body": "It is \\u0000 so."}'
    )
    assert isinstance(found, Document)
    mesh = mesh_at(tmp_path / "m")
    assert take(mesh, found).documents["new"] == 1
