"""A small application with surfaces of its layout, its workspace, and files as a model would bring them back.

Who calls: tests/snapshots/, tests/http/. What may not come in: assertions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mog.engine.config import EngineConfig
from mog.engine.snapshots.model import ANNOTATIONS, AnnotationRequest
from mog.engine.workspace import Workspace

HUNTER = "hunter" + "2" * 3 + "Fake"
TASKS = '''"""Tasks."""
from app.db import save


class Tasks:
    """All tasks."""

    def complete(self, task_id: int) -> bool:
        """Complete one."""
        return save(task_id)

    def close(self):
        return self.complete(0)


def archive(tasks: Tasks) -> None:
    tasks.complete(1)
'''
VIEWS = """from app.services.tasks import Tasks, archive


def page(request):
    archive(Tasks())
    return request.user
"""
FILES: Mapping[str, str] = {
    "app/__init__.py": "",
    "app/db.py": "def save(row):\n    return bool(row)\n",
    "app/services/__init__.py": "",
    "app/services/tasks.py": TASKS,
    "app/views.py": VIEWS,
    "tests/test_tasks.py": "from app.services.tasks import Tasks\n\n\ndef test_complete():\n    assert Tasks().complete(1)\n",
}


def opened(root: Path, **settings: Any) -> Workspace:
    """The workspace of a folder, indexed."""
    workspace = Workspace.open(root, config=EngineConfig(**{"project": "shop", **settings}))
    workspace.index(workers=1)
    return workspace


def answered(
    request: AnnotationRequest, made: Callable[[str], Mapping[str, Any]] | None = None, **document: Any
) -> bytes:
    """The file that comes back for a request: each item described, or as ``made`` says for its qualified name."""
    rows = []
    for item in request.items:
        said = {
            "node_id": item.node_id,
            "span_hash": item.span_hash,
            "purpose": f"Does {item.qualified_name}.",
            "confidence": 0.8,
        }
        rows.append({**said, **(made(item.qualified_name) if made else {})})
    return json.dumps({**request.answer, "annotator": "model-1", "annotations": rows, **document}).encode()


def file_of(*rows: Mapping[str, Any], **document: Any) -> bytes:
    """A file with these annotations."""
    return json.dumps({"schema": ANNOTATIONS, "annotations": list(rows), **document}).encode()
