"""Which of the things that documents name are entities, under which name, and which of them a sentence mentions.

Called by ``pipeline.py``. What may not come in: the graph, files, the order of documents: everything here is a sum over
documents and a choice by count, then by length, then by spelling.

Two spellings are one entity when the resolver's keys agree (``terms.name``), or when the text spells an acronym out. The
name is the spelling that occurs most. Frequency decides what stays: a name that markup or shape marks as code, or that is
capitalised inside sentences, needs ``Thresholds.code`` or ``.name`` occurrences; a common word never gets in by frequency.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from mog.engine.reason import terms
from mog.engine.reason.prose import words
from mog.engine.reason.prose.entities import MAX_WORDS, Found, shaped, short
from mog.engine.reason.prose.marked import tidy

_TRIM = ".,;:!?()[]{}\"'’“”«»*"
_GENERIC = 10
_LARGE = 400
"""Statements from which on a corpus is large enough to ask for repetition."""


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity of a lexicon.

    Attributes:
        key: the resolver's key of its name, one per entity.
        name: the spelling that occurs most.
        aliases: other spellings whose key differs (qualified names, acronyms), sorted.
        form: code, name, cjk or term: which occurrences count as a mention.
        sure: declared, by a person or by the markup. fixed: its name stands already, in the mesh or by a person's word.
    """

    key: str
    name: str
    aliases: tuple[str, ...]
    form: str
    count: int
    sure: bool = False
    fixed: bool = False


@dataclass(slots=True)
class Tally:
    """What the documents of one build name, counted. ``add`` takes one document after the other, in any order."""

    spellings: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    forms: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    documents: Counter[str] = field(default_factory=Counter)
    lower: Counter[str] = field(default_factory=Counter)
    full: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    members: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    acronyms: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    declared: set[str] = field(default_factory=set)
    glossary: set[str] = field(default_factory=set)
    defined: Counter[str] = field(default_factory=Counter)
    headed: Counter[str] = field(default_factory=Counter)
    statements: int = 0

    def add(
        self,
        named: Iterable[Found],
        sentences: Iterable[str],
        declared: Iterable[str],
        defined: Iterable[str],
        headed: Iterable[Found],
    ) -> None:
        """Count one document: what its sentences name, the sentences, and what it declares, defines and heads sections with."""
        seen: set[str] = set()
        for found in named:
            seen.add(self._count(found))
        for sentence in sentences:
            self.statements += 1
            self.lower.update(word for word in sentence.replace("`", " ").split() if word.isalpha() and word.islower())
            for long, letters in terms.spelled_out(sentence) if "(" in sentence else ():
                self.acronyms[key(letters)][long] += 1
        for name in declared:
            self.declared.add(self._count(Found(name, "term" if " " in name else "code")))
        for name in defined:
            self.defined[self._spelled(name, "term")] += 1
        for head in headed:
            self.headed[self._spelled(head.text, head.form)] += 1
        self.documents.update(seen)

    @property
    def large(self) -> bool:
        """Is there enough text to ask for repetition?"""
        return self.statements >= _LARGE

    def explain(self, glossary: Iterable[str]) -> None:
        """Count the terms of a glossary: they are entities, common words or not."""
        for name in glossary:
            at = self._count(Found(name, "term"))
            self.declared.add(at)
            self.glossary.add(at)

    def _count(self, found: Found) -> str:
        at = self._spelled(found.text, f"{found.form}?" if found.first else found.form)
        if found.full and key(found.full) != at:
            self.full[at][found.full] += 1
        owner, dot, member = found.text.rpartition(".")
        if dot and found.form == "code" and owner[:1].isupper():
            self.members[key(member)][found.text] += 1
        return at

    def _spelled(self, text: str, form: str) -> str:
        at = key(text)
        self.spellings[at][text] += not form.endswith("?")
        self.forms[at][form] += 1
        return at


_KEYS: dict[str, str] = {}


def key(text: str) -> str:
    """The resolver's key of a name."""
    found = _KEYS.get(text)
    if found is None:
        if len(_KEYS) > 100_000:
            _KEYS.clear()
        found = _KEYS[text] = terms.name(text).squeezed
    return found


class Lexicon:
    """The entities of a build and of the mesh it goes into, and a matcher for them.

    Attributes:
        generic: keys of headings that so many sections have that they say nothing of their subject.
        spelled: how the entities were written where ``mentioned`` met them inside sentences, counted.
    """

    def __init__(self, entities: Iterable[Entity], generic: Collection[str] = ()) -> None:
        self.generic = frozenset(generic)
        self.entities = {entity.key: entity for entity in entities}
        self.spelled: dict[str, Counter[str]] = defaultdict(Counter)
        self._by: dict[str, str] = {}
        self._longest_from: dict[str, int] = {}
        for entity in self.entities.values():
            for name in (entity.name, *entity.aliases):
                self._by.setdefault(key(name), entity.key)
                if entity.form in ("term", "name") and name.split():
                    first = key(name.split()[0])
                    # one more word than the name has: a compound may be written apart
                    self._longest_from[first] = max(
                        self._longest_from.get(first, 0), min(len(name.split()) + 1, MAX_WORDS)
                    )

    def __len__(self) -> int:
        return len(self.entities)

    def of(self, name: str) -> Entity | None:
        """The entity that a name means, or None."""
        at = self._by.get(key(name))
        return self.entities[at] if at is not None else None

    def mentioned(self, shown: str, named: Iterable[Found]) -> list[str]:
        """Keys of the entities that a sentence mentions, sorted."""
        out: set[str] = set()
        for found in named:
            entity = (self.of(found.full) if found.full else None) or self.of(found.text)
            if entity and (
                entity.form != "code" or found.form == "code" or shaped(entity.name) or entity.name.isupper()
            ):
                out.add(entity.key)
        out.update(self._phrases(shown))
        return sorted(out)

    def _phrases(self, shown: str) -> Iterator[str]:
        """Terms and names in running text, the longest first at every word, none inside another."""
        found = [word.strip(_TRIM) for word in shown.split()]
        keys = [key(word) if word and "`" not in word else "" for word in found]
        at = 0
        while at < len(found):
            size, entity = self._longest(found, keys, at) if keys[at] in self._longest_from else (0, "")
            if size:
                if at:  # the first word of a sentence is written large whatever it is
                    self.spelled[entity][" ".join(found[at : at + size])] += 1
                yield entity
            at += size or 1

    def _longest(self, found: list[str], keys: list[str], at: int) -> tuple[int, str]:
        """Words of the longest name from here, and its entity; the key of a run is the keys of its words together."""
        for size in range(min(self._longest_from[keys[at]], len(found) - at), 0, -1):
            run = keys[at : at + size]
            entity = self._by.get("".join(run)) if all(run) else None
            if entity is not None:
                form = self.entities[entity].form
                if form == "term" or (form == "name" and found[at][:1].isupper()):
                    return size, entity
        return 0, ""

    def settle(self, tally: Tally) -> Lexicon:
        """The lexicon with terms named as running text writes them, without those that it hardly writes, or writes everywhere.

        Call it after ``mentioned`` saw every sentence; then ask again, of the new one.
        """
        generic = {at for at, count in tally.headed.items() if count > _GENERIC}
        return Lexicon(
            (self._renamed(entity) for entity in self.entities.values() if self._used(entity, tally)), generic
        )

    def _renamed(self, entity: Entity) -> Entity:
        found: Mapping[str, int] = self.spelled.get(entity.key, {})
        own = {
            name: count
            for name, count in found.items()
            if key(name) == entity.key and "'" not in name and "’" not in name
        }
        return replace(entity, name=_best(own)) if own and entity.form == "term" and not entity.fixed else entity

    def _used(self, entity: Entity, tally: Tally) -> bool:
        if entity.form != "term" or entity.fixed:
            return True
        used = sum(self.spelled[entity.key].values())
        if tally.headed[entity.key] > _GENERIC and not tally.defined[entity.key] and not entity.sure:
            return False
        everywhere = tally.large and " " not in entity.name and used * 50 > tally.statements
        return (entity.sure or used >= (4 if tally.large else 1)) and not everywhere


def build(tally: Tally, declared: Iterable[str] = ()) -> list[Entity]:
    """The entities of a tally, in order of keys. ``declared`` names are entities whatever their count."""
    sure = {key(name): name for name in sorted(declared)}
    large = tally.large
    kept = [at for at in tally.spellings if at and at not in sure and _worth(tally, at, large)]
    merged = _merged(tally, sorted({*kept, *sure}))
    return [_entity(tally, at, group, sure) for at, group in sorted(merged.items())]


def _worth(tally: Tally, at: str, large: bool) -> bool:
    """Does a person call this a thing of the subject? By evidence of markup, capitals, definitions and repetition."""
    forms, best = tally.forms[at], _best(tally.spellings[at])
    if len(best) < 2 or best.lower() in words.NO_NAMES or best.lower() in words.FUNCTION_WORDS:
        return False
    count = sum(count for form, count in forms.items() if not form.endswith("?"))
    if at in tally.glossary:
        return True
    if at in tally.declared and (" " in best or shaped(best) or count >= 2 or not large):
        return not (large and _common(tally, best, count))
    if forms["code"] * 2 >= count and forms["code"]:
        plain = not shaped(best) and not best.isupper()
        if plain and large and _common(tally, best, forms["code"]):
            return False
        return forms["code"] >= ((6 if plain else 2) if large else (2 if plain else 1))
    if forms["name"] and _proper(tally, best, count):
        return forms["name"] >= (3 if large else 1)
    if forms["name?"] and " " in best and not forms["term"]:
        return _opens_names(tally, best, forms["name?"], large)
    if forms["cjk"]:
        return count >= (3 if large else 2)
    if " " not in best:
        return _defined_word(tally, at, large)
    return tally.defined[at] * 2 + tally.headed[at] >= (2 if large else 1)


def _common(tally: Tally, best: str, count: int) -> bool:
    """A word that running text uses far oftener than it names anything (``name``, ``value``, ``id``)."""
    return " " not in best and tally.lower[best.lower()] > 3 * count


def _proper(tally: Tally, best: str, count: int) -> bool:
    """A name by its capitals: not a word that is mostly written small, nor a heading's title case."""
    if " " in best or best.isupper() or not best[:1].isupper():
        return best[:1].isupper() or best.isupper()
    return tally.lower[best.lower()] <= count


def _opens_names(tally: Tally, best: str, count: int, large: bool) -> bool:
    """A run of capitals met only at the start of sentences: its first word must not be one that text writes small."""
    first = best.split()[0].lower()
    return tally.lower[first] == 0 and not first.endswith(("ing", "ed")) and count >= (3 if large else 1)


def _defined_word(tally: Tally, at: str, large: bool) -> bool:
    """A single common word: only when the text defines it, and heads a section or defines it twice."""
    return (
        bool(tally.defined[at]) and (tally.defined[at] + tally.headed[at] >= (3 if large else 2))
    ) or at in tally.declared


def _best(spellings: Mapping[str, int]) -> str:
    """The spelling that occurs most; of equals the shortest, then the first in order. Call brackets never count."""
    return min(spellings, key=lambda name: (-spellings[name], len(name), name))


def _merged(tally: Tally, kept: Collection[str]) -> dict[str, set[str]]:
    """Keys by the key they are kept under: a member's bare name with its class's, a qualified name with its short one, an
    acronym with what it stands for.
    """
    home = {at: at for at in kept}
    for at in sorted(kept):
        long = key(_best(tally.acronyms[at])) if at in tally.acronyms else _owner(tally, at)
        if long in home and long != at and home[long] == long:
            home[at] = long
    for at, full in sorted(_qualified(tally, kept).items()):
        if full in home and home[full] == full and _home(home, at) != full:
            home[full] = at
    groups: dict[str, set[str]] = defaultdict(set)
    for at in sorted(home):
        groups[_home(home, at)].add(at)
    return groups


def _qualified(tally: Tally, kept: Collection[str]) -> dict[str, str]:
    """Short name → key of the one qualified name that people mean by it, as markup says, or as no other name speaks against."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for at in sorted(kept):
        best = _best(tally.spellings[at]) if at in tally.spellings else ""
        last = short(best) if "." in best and "/" not in best else best
        if last != best and len(last) >= 4 and "." not in last and _is_code(tally, key(last)):
            found[key(last)][at] += sum(tally.spellings[at].values())
    for at in sorted(kept):
        for full, count in tally.full[at].items() if at in tally.full else ():
            found[at][key(full)] += count
    out = {}
    for at, fulls in found.items():
        top = _best(fulls)
        if at in kept and fulls[top] * 5 >= sum(fulls.values()) * 4:
            out[at] = top
    return out


def _is_code(tally: Tally, at: str) -> bool:
    forms = tally.forms.get(at, Counter())
    return forms["code"] * 2 > sum(forms.values())


def _owner(tally: Tally, at: str) -> str:
    """Key of the one ``Class.member`` that a bare member's name means; "" when there are several, or it is a common word."""
    members = tally.members.get(at)
    if not members:
        return ""
    top, bare = _best(members), _best(tally.spellings[at])
    enough = members[top] * 5 >= sum(members.values()) * 4 and sum(members.values()) * 2 >= tally.forms[at]["code"]
    return key(top) if enough and top.endswith(f".{bare}") and not _common(tally, bare, tally.forms[at]["code"]) else ""


def _home(home: Mapping[str, str], at: str) -> str:
    seen = {at}
    while home.get(at, at) != at and home[at] not in seen:
        at = home[at]
        seen.add(at)
    return at


def _entity(tally: Tally, at: str, group: Collection[str], sure: Mapping[str, str]) -> Entity:
    spellings: Counter[str] = Counter()
    for each in group:
        spellings.update(tally.spellings.get(each, {}))
    name = sure.get(at) or _best(spellings)
    forms = tally.forms.get(at, Counter())
    form = "term" if at in sure else min(("code", "name", "cjk", "term"), key=lambda each: (-forms[each], each))
    aliases = {key(other): other for other in sorted(spellings, key=lambda each: (spellings[each], -len(each), each))}
    for full in (tally.full[each] for each in group if each in tally.full):
        best = _best(full)
        if full[best] * 5 >= sum(full.values()) * 4:
            aliases.setdefault(key(best), best)
    aliases.pop(key(name), None)
    aliases.pop("", None)
    declared = at in sure or at in tally.declared
    return Entity(at, tidy(name), tuple(sorted(aliases.values())), form, sum(spellings.values()), declared, at in sure)
