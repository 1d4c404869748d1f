"""Optional static embeddings: a table of token vectors that ships inside a package, averaged. No model runs, nothing is loaded
from elsewhere.

Who calls: ``semantic``, the tie-breaker; ``evals/field`` for chunk RAG. What may not come in: a download, vectors of two spaces in
one comparison.

Weights: ``wordllama`` (MIT), 32,000 x 256 half floats, installed with the extra ``[embed]``. Only its two data files are read, by
this module; the package itself is not imported (its loader asks the network first).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mog.engine.errors import ProviderError, UsageError

#: The most that nearness may weigh beside words; as an equal of theirs it makes every figure worse.
MAX_WEIGHT = 0.1
_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_WAY_OUT = "pip install 'mog-workbench[embed]', or leave embeddings off"

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Space:
    """What makes two vectors comparable: model and version, dimension, digest of the weights."""

    model: str
    dimension: int
    digest: str


@dataclass(frozen=True, slots=True)
class Vectors:
    """Rows of length 1 (or 0, for texts without a known token) in one space."""

    space: Space
    rows: Floats

    def similarity(self, other: Vectors) -> Floats:
        """Cosines, rows x rows of ``other``. Raises UsageError for another space."""
        if other.space != self.space:
            what = f"vectors of {other.space.model} cannot be compared with those of {self.space.model}"
            raise UsageError(what, where="embeddings", way_out="make all vectors anew with one model")
        return np.asarray(self.rows @ other.rows.T, dtype=np.float32)


class Embedder:
    """Texts to vectors in ``space``.

    Args:
        space: what is recorded beside stored vectors. table: tokens x dimension. tokenizer: of the ``tokenizers`` package.
    """

    def __init__(self, space: Space, table: Floats, tokenizer: Any) -> None:
        self.space = space
        self._table = table
        self._tokenizer = tokenizer

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The mean of the vectors of each text's tokens, at length 1."""
        coded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        rows = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        for at, one in enumerate(coded):
            ids = np.asarray(one.ids, dtype=np.intp)
            if len(ids):
                mean = self._table[np.minimum(ids, len(self._table) - 1)].mean(axis=0)
                rows[at] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return Vectors(self.space, rows)


@cache
def load() -> Embedder | None:
    """The embedder, or None when the extra is not installed.

    Raises:
        ProviderError: it is installed and its files are not what is expected.
    """
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.origin or importlib.util.find_spec("tokenizers") is None:
        return None
    folder = Path(found.origin).parent
    try:
        data = (folder / _WEIGHTS).read_bytes()
        table = tensor(data, _TENSOR)
        space = Space(f"{_PACKAGE} {version(_PACKAGE)}", table.shape[1], hashlib.blake2b(data, digest_size=8).hexdigest())
        return Embedder(space, table, _tokenizer(folder / _TOKENIZER))
    except (OSError, ValueError, KeyError, PackageNotFoundError) as error:
        raise ProviderError(f"the embedding cannot be read: {error}", where=_PACKAGE, way_out=_WAY_OUT) from error


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer  # pyright: ignore[reportMissingImports]  # of the extra [embed]

    made = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    made.no_padding()
    made.no_truncation()
    return made


def tensor(data: bytes, name: str) -> Floats:
    """One matrix of half or single floats out of a safetensors file (8 bytes length, JSON head, raw little-endian values).

    Raises:
        ValueError, KeyError: the file has no such matrix.
    """
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])[name]
    kinds = {"F16": "<f2", "F32": "<f4"}
    if head["dtype"] not in kinds or len(head["shape"]) != 2:
        raise ValueError(f"{name} is {head['dtype']} {head['shape']}")
    start, end = head["data_offsets"]
    flat = np.frombuffer(data[8 + size + start : 8 + size + end], dtype=kinds[head["dtype"]])
    return flat.reshape(head["shape"]).astype(np.float32)
