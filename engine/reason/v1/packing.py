"""What the formats hold and the mesh has no field for, kept under one attribute so that it comes out again byte for byte.

Called by ``into_mesh`` and ``from_mesh``. What may not come in: the mesh, meaning. Zeroes and nulls are left away; numbers
that canonical JSON would change (1.0, -0.0, beyond 2^53) are kept as their text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from mog.engine.reason.records import thaw
from mog.engine.reason.v1.fields import exact

EXTRAS = "contextmesh"
OWN = "mog"
_BYTE = 256


def kept(**values: Any) -> dict[str, Any]:
    """The values that say something: no zero, no null, nothing empty."""
    return {name: value for name, value in values.items() if value or (value == 0 and name == "at")}


def extras_of(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """What an import kept of a record, as plain JSON; empty for a record made here."""
    found = attrs.get(EXTRAS)
    return thaw(found) if isinstance(found, Mapping) else {}


def store_attrs(attrs: Mapping[str, Any], extras: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a file as the mesh can hold them; ``extras`` goes with them and says what was changed."""
    out = {name: value for name, value in attrs.items() if name not in (EXTRAS, OWN)}
    texts = sorted(name for name, value in out.items() if not exact(value))
    for name in texts:
        out[name] = json.dumps(out[name], ensure_ascii=False)
    taken = {name: json.dumps(attrs[name], ensure_ascii=False) for name in (EXTRAS, OWN) if name in attrs}
    return {**out, EXTRAS: {**extras, **kept(texts=texts, taken=taken)}}


def restore_attrs(attrs: Mapping[str, Any], extras: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes as the file had them, with what was changed here since."""
    out = {name: thaw(value) for name, value in attrs.items() if name != EXTRAS}
    for name in extras.get("texts", ()):
        if isinstance(out.get(name), str):
            out[name] = _value(out[name])
    return {**out, **{name: _value(text) for name, text in extras.get("taken", {}).items()}}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text  # set anew here; then it is text in its own right


def pack_vector(vector: tuple[float, ...] | None) -> dict[str, str] | None:
    """A vector as its distinct values, in text, and the place of each of its elements among them, in base64."""
    if vector is None:
        return None
    texts = list(map(repr, vector))
    values = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    wide = 1 if len(values) <= _BYTE else 4
    places = [values[text] for text in texts]
    packed = bytes(places) if wide == 1 else b"".join(at.to_bytes(wide, "little") for at in places)
    return {"values": " ".join(values), f"at{wide}": base64.b64encode(packed).decode()}


def unpack_vector(packed: Mapping[str, str] | None) -> tuple[float, ...] | None:
    """The inverse of ``pack_vector``."""
    if packed is None:
        return None
    values = [float(text) for text in packed["values"].split()]
    if "at1" in packed:
        return tuple([values[at] for at in base64.b64decode(packed["at1"])])
    raw = base64.b64decode(packed["at4"])
    return tuple(values[int.from_bytes(raw[i : i + 4], "little")] for i in range(0, len(raw), 4))
