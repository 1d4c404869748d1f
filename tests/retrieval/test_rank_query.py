"""What a question is taken apart into."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.engine.retrieval import query

ISSUE = """QuerySet.delete is slow with select_related
<!-- Please search for duplicates first, SecretWord -->
Deleting `rows` calls Collector.collect() twice, see
https://example.invalid/org/repo/blob/0123abc/django/db/models/query.py#L700-L720 and pkg/util.py:12.

```python
from django.db import models, transaction
Book.objects.filter(pk=1).delete()
```

Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/django/db/models/query.py", line 711, in delete
    collector.collect(del_query)
  File "/usr/lib/python3/site-packages/django/db/models/deletion.py", line 220, in collect
    raise ValueError("no")
ValueError: related objects were lost
"""


def test_title_prose_code_and_error_are_apart() -> None:
    asked = query.parse(ISSUE)
    assert asked.title == "QuerySet.delete is slow with select_related"
    assert "Deleting" in asked.prose
    assert "Book.objects" in asked.code
    assert "Book.objects" not in asked.prose
    assert "SecretWord" not in asked.prose + asked.code
    assert "example.invalid" not in asked.prose


def test_a_line_that_states_an_error_counts_as_prose_too() -> None:
    asked = query.parse('It fails\n```\nx = 1\nValueError: related objects were lost\n```\n')
    assert asked.error == "ValueError: related objects were lost"
    assert "related objects were lost" in asked.prose


def test_what_is_mentioned_by_name_is_found() -> None:
    asked = query.parse(ISSUE)
    assert "select_related" in asked.names
    assert "rows" in asked.ticked
    assert {"QuerySet.delete", "Collector.collect", "django.db.models", "django.db.transaction"} <= set(asked.dotted)
    assert "django/db/models/query.py" in asked.paths
    assert ("django/db/models/query.py", 700) in asked.places
    assert ("pkg/util.py", 12) in asked.places


def test_steps_of_a_traceback_are_numbered_from_where_it_was_raised() -> None:
    frames = query.parse(ISSUE).frames
    assert [(frame.function, frame.line, frame.depth) for frame in frames] == [("delete", 711, 1), ("collect", 220, 0)]


def test_steps_of_a_notebook_are_read_too() -> None:
    text = "Fit fails\n\n~/lib/pkg/huber.py in fit(self, X, y)\n    277     a\n--> 279     b\n"
    frames = query.parse(text).frames
    assert [(frame.path, frame.function, frame.line) for frame in frames] == [("~/lib/pkg/huber.py", "fit", 279)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("verify_token", "verify_token"), ("Model.save", "Model.save"), ("`Model.save`", "Model.save"),
        ("path/to/file.py", "path/to/file.py"), ("sym:src/a.py::f", "src/a.py::f"), ("two words", ""), ("ctx://ab", ""),
        ("  spaced  ", "spaced"),
    ],
)  # fmt: skip
def test_a_question_that_is_one_name_is_known_as_such(text: str, plain: str) -> None:
    assert query.parse(text).plain == plain


def test_one_long_line_is_title_and_prose() -> None:
    asked = query.parse("word " * 200)
    assert len(asked.title) <= query.TITLE_LIMIT
    assert asked.prose.count("word") == 200


HOSTILE = {
    "long word": "a" * 100_000, "zeros": "\0" * 50_000, "surrogates": "\ud800" * 1_000, "ticks": "`" * 40_000,
    "slashes": "/a" * 20_000, "dots": "a." * 20_000, "comments": "<!--" * 10_000, "files": 'File "' * 9_000,
    "places": "a/b.py:1" * 5_000, "tabs": "\t" * 40_000, "frames": "a.py in f()\n" * 3_000, "names": "A_" * 20_000,
    "dotted words": ("a." * 149 + " ") * 130, "calls": "foo(bar" * 6_000,
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_questions_cost_about_as_much_as_plain_ones(text: str) -> None:
    def cost(asked: str) -> float:
        start = time.process_time()
        query.parse(asked)
        return time.process_time() - start

    plain = max(min(cost(("some plain words, " * 3_000)[: query.LIMIT]) for _ in range(3)), 0.005)
    assert min(cost(text) for _ in range(2)) < 40 * plain
    asked = query.parse(text)
    assert len(asked.text) <= query.LIMIT
    assert "\0" not in asked.text
    asked.text.encode()


@given(st.text(max_size=500))
def test_any_text_is_taken_apart_the_same_way_twice(text: str) -> None:
    asked = query.parse(text)
    assert asked == query.parse(text)
    assert len(asked.names) <= query.MENTIONS
