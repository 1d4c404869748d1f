"""A light tie-breaker: how near a question is in meaning to the names that its words found.

Who calls: ``context``, where the configuration turns it on; ``evals/field``. What may not come in: a candidate that no word found,
vectors on disk (two hundred names are coded again in milliseconds).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mog.engine.errors import UsageError
from mog.engine.retrieval import embed
from mog.engine.retrieval.weights import RANK

Array = NDArray[np.float32]
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
#: Characters of a question and of a name that are looked at.
_LONG, _SHORT = 4_000, 300
WAY_OUT = "pip install 'mog-workbench[embed]', or set embeddings.tie_breaker: off"


def text_of(name: str) -> str:
    """What is compared of a symbol: the words of its qualified name."""
    return " ".join(_PARTS.findall(name[:_SHORT])).lower()


class TieBreaker:
    """Moves scores by ``weight`` standard deviations for each standard deviation of nearness.

    Args:
        embedder: ``embed.load()`` unless given.

    Raises:
        UsageError: the extra ``[embed]`` is not installed. ProviderError: its files are not what is expected.
    """

    def __init__(self, embedder: embed.Embedder | None = None, weight: float = RANK.meaning) -> None:
        found = embedder or embed.load()
        if found is None:
            raise UsageError("the extra [embed] is not installed", where="embeddings.tie_breaker", way_out=WAY_OUT)
        self._embedder = found
        self._weight = min(weight, embed.MAX_WEIGHT)

    @property
    def note(self) -> str:
        """Which model, of how many dimensions, took part: for the boundary of an answer."""
        return f"ties broken by {self._embedder.space.model}, {self._embedder.space.dimension} dimensions"

    def added(self, query: str, names: Sequence[str], scores: Sequence[float]) -> list[float]:
        """What each score gains or loses by the name it belongs to; nothing where all are equally near."""
        if len(names) < 2:
            return [0.0] * len(names)
        asked, told = self._embedder.encode([query[:_LONG]]), self._embedder.encode([text_of(name) for name in names])
        near = told.similarity(asked)[:, 0]
        spread = float(near.std())
        if spread < 1e-6:
            return [0.0] * len(names)
        step = self._weight * float(np.std(np.asarray(scores, np.float64)))
        return [float(value) for value in (near - near.mean()) / spread * step]
