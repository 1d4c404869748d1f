"""Closed classes of words: what English, Russian and Japanese grammar list, and what no entity is named.

Called by ``extract.py`` and ``entities.py``. What may not come in: verbs, nouns or names of a subject; those are found in
the text. The classes are closed in the linguist's sense: a language gains no new member of them by writing about
another subject.
"""

from __future__ import annotations

DETERMINERS = frozenset(
    "a an the this that these those my your his her its our their any some each every either neither no another all both"
    " such what which whose many much few several most more less enough certain other".split()
)
PRONOUNS = frozenset(
    "i you he she it we they one there who nobody nothing everything something anyone someone everyone".split()
)
POINTING = frozenset("this that these those it its they them their he she his her such here there both neither".split())
"""First words that point back to the sentence before: a statement that begins so means little elsewhere."""
PREPOSITIONS = frozenset(
    "of in on at by for with from to into onto over under about after before between among through during without within"
    " against across along around as via per than like unlike upon off out up down until since toward towards beside"
    " besides beyond despite inside outside except near".split()
)
CONJUNCTIONS = frozenset(
    "and or but nor so yet if when while because although though unless whether where whereas once since until how why".split()
)
AUXILIARIES = frozenset(
    "is are was were be been being am isn't aren't wasn't weren't has have had hasn't haven't hadn't do does did doesn't don't"
    " didn't can cannot can't could couldn't will won't would wouldn't shall should shouldn't may might must mustn't need"
    " needs ought it's that's there's they're we're you're i'm i've we've you've they've it'll you'll we'll they'll isn’t"
    " aren’t wasn’t weren’t hasn’t haven’t hadn’t doesn’t don’t didn’t can’t couldn’t won’t wouldn’t shouldn’t mustn’t it’s"
    " that’s there’s they’re we’re you’re let's let’s".split()
)
STRONG_PASTS = frozenset(
    "became began bent bit blew bought bound bred broke brought built burnt came caught chose cost crept cut dealt did drew"
    " drove dug fed fell felt fled flew forbade forgot fought found froze gave went ground grew held hid hit hung hurt kept"
    " knew laid lay led left lent let lit made lost meant met put quit read ran rose said sang sank sat saw sent set shed"
    " shone shook shot shrank shut sold sought spent split spoke spread sprang stole stood stuck struck stung swam swept"
    " swore swung taught threw thought told took tore understood woke won wore wove wrote".split()
)
"""Pasts of English strong verbs, which carry no ending to know them by."""
UNCHANGED = frozenset("bet cost cut hit hurt let put quit read set shed shut split spread".split())
"""Those whose past is written like the bare verb, so that they can also give an order."""
ADVERBS = frozenset(
    "not also only just then now already always never often still very too even again instead however therefore thus hence"
    " otherwise meanwhile perhaps rather quite almost soon later first next finally additionally furthermore moreover"
    " similarly likewise conversely alternatively typically usually generally normally currently previously sometimes"
    " optionally internally historically together".split()
)
FUNCTION_WORDS = DETERMINERS | PRONOUNS | PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | ADVERBS

DEONTIC = frozenset("must mustn't shall should shouldn't never mustn’t shouldn’t ought".split())
FORBIDDING = frozenset("don't don’t avoid never always ensure prefer".split())
"""First words that make an imperative whatever follows."""
LEADING = frozenset("please then next finally first now also instead otherwise".split())
"""Words that may come before the verb of an order."""
TELLING = frozenset("note remember observe recall suppose assume notice".split())
"""Verbs that open a statement with ``that`` and order nothing."""
RISKS = (
    "vulnerab", "race condition", "data loss", "deadlock", "insecure", "unsafe", "injection", "denial of service",
    "denial-of-service", "security risk", "security hole", "memory leak", "at risk", "risk of", "corrupt",
    "уязвим", "риск", "脆弱性", "危険",
)  # fmt: skip
RUSSIAN_DEONTIC = frozenset(
    "нельзя должен должна должно должны необходимо следует запрещено запрещается обязан обязаны никогда требуется".split()
)
JAPANESE_DEONTIC = (
    "してください", "てください", "べき", "なければならない", "なければなりません", "てはいけません", "てはいけない",
    "てはならない", "禁止", "ないでください", "必须", "不得", "不要", "应该", "禁止",
)  # fmt: skip

NO_NAMES = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep"
    " sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun"
    " note notes warning tip example examples important caution danger hint todo fixme see also new changed deprecated"
    " added removed fixed fix default optional required yes no true false none null ok okay n/a tbd etc fig figure table"
    " section chapter appendix part step version versions release releases introduction overview summary conclusion"
    " background context decision decisions consequences status date title abstract references contents index glossary"
    " usage installation getting started requirements license licence faq changelog readme miscellaneous misc general"
    " accepted proposed superseded rejected options option pros cons considered outcome drivers"
    " positive negative good bad neutral more mr mrs ms dr prof thanks please sorry hello dear refs closes resolves"
    " question answer problem solution advanced basic basics simple kb mb gb tb kib mib gib ms".split()
)
"""Words that are capitalised by custom, by place or as a label, and name no thing of their own."""
