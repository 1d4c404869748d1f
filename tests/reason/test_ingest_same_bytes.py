"""The same documents give the same ledger, byte for byte, under any hash seed, locale and time zone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from prose_kit import mesh_at, take
from mog.engine.ids import digest
from mog.engine.reason.prose import issues_export, readers
from mog.engine.reason.records import encode

root = Path(sys.argv[1])
found = [*readers.folder(root / "docs", prefix="docs/"), *issues_export.issues(root / "issues.jsonl")]
mesh = mesh_at(Path(sys.argv[3]))
take(mesh, *found, collection="c", complete=True, entities=["night job", "Zürich"])
take(mesh, *[d for d in found if not getattr(d, "key", "").endswith("b.md")], collection="c", complete=True)
rows = [repr((t, k, encode(t, r))) for t, rows in sorted(mesh.tables.rows.items()) for k, r in sorted(rows.items())]
print(mesh.head.state, mesh.head.digest, digest(b"test", *rows).hex(), len(rows))
"""

DOCS = {
    "docs/a.md": (
        "---\ndate: 2024-05-06\nentities: [Alpha Beta]\n---\n# Gateway\n\nThe Payment Gateway calls `OrderView.get()`. "
        "The ORS (Order Routing Service) is slow in Zürich.\n"
    ),
    "docs/b.md": "The Payment Gateway keeps data in PostgreSQL. Die Prüfung läuft in der Straße.\n",
    "docs/c.rst": (
        "Title\n=====\n\n.. setting:: MAX_SIZE\n\nThe :class:`~a.b.Thing` limits it. It defaults to nine items.\n"
    ),
    "docs/adr/0001-x.md": (
        "# 1. Use files\n\n## Status\n\nAccepted\n\n## Context\n\nThe Payment Gateway is slow.\n\n"
        "## Decision\n\nWe use files since they are simple.\n"
    ),
    "docs/ja.md": "認証サービスはトークンを発行します。利用者は認証サービスに接続します。Сервер Ромашка хранит заказы.\n",
    "issues.jsonl": (
        '{"number": 1, "title": "İstanbul orders fail in the gateway", "body": "The night job is late.", '
        '"created_at": "2024-01-01"}\n'
    ),
}


@pytest.mark.slow
def test_builds_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    for name, text in DOCS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    helpers = Path(__file__).parents[1] / "helpers"
    said = set()
    settings = [
        ("0", "C", "UTC"),
        ("1", "C.UTF-8", "Asia/Tokyo"),
        ("4242", "tr_TR.UTF-8", "America/Los_Angeles"),
        ("77", "POSIX", "Pacific/Kiritimati"),
    ]
    for number, (seed, locale, zone) in enumerate(settings):
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "LC_ALL": locale,
            "LANG": locale,
            "TZ": zone,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path), str(helpers), str(tmp_path / f"mesh{number}")],
            env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr.decode("utf-8", "replace")
        said.add(run.stdout)
    assert len(said) == 1, said
    assert int(next(iter(said)).split()[-1]) > 60
