"""Five things a newcomer does, each in at most six keys from a cold start, on a real workspace. The guide shows them with pictures.

``python tests/helpers/pictures.py`` draws the pictures of the guide from the same states.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from five_tasks import TASKS, Task, played, screen_text

MOST = 6


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
async def test_a_task_of_a_newcomer(task: Task, tmp_path: Path) -> None:
    assert len(task.keys) <= MOST
    async with played(task, tmp_path / "harbour") as home:
        text = screen_text(home)
        missing = [words for words in task.seen if words not in text]
        assert not missing, text


def test_the_guide_tells_every_task_with_its_keys_and_its_picture() -> None:
    docs = Path(__file__).parents[2] / "docs"
    guide = (docs / "guide.md").read_text(encoding="utf-8")
    for task in TASKS:
        assert f"`{' '.join(task.shown)}`" in guide, task.name
        assert f"pictures/{task.name}.svg" in guide and (docs / "pictures" / f"{task.name}.svg").is_file(), task.name
