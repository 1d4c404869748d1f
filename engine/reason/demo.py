"""The story that ``mog demo`` plays: a few notes of a made-up parcel desk, and what is said and asked about them.

Who calls: ``app/cli/demo.py``, which writes the files into a folder of its own and runs the commands there as they stand.
What may not come in: code that decides anything. Every command is one that a person could type; every answer is real.
"""

from __future__ import annotations

from dataclasses import dataclass

PROJECT = "parcel-desk"

WAIT = "The carrier answers within two seconds"
PRINT = "Print the label while the customer waits"
SPARE = "Buy no spare machine"
STAND = "Customers stand at the counter while the Label Printer works."
REFUND = "The Refund Rule covers every parcel that arrives a week late."
LIMIT = "The client gives up on the carrier after two seconds"
PLACE = "sym:carrier.py::give_up_after"

FILES = {
    "notes/label-printer.md": """\
---
title: Label printer notes
date: 2026-03-02
---
# Label Printer

The Label Printer waits for the Carrier Service before it prints.
Customers stand at the counter while the Label Printer works.
The Label Printer needs a new roll after four hundred labels.
""",
    "notes/carrier-trial.md": """\
---
title: Carrier trial
date: 2026-03-09
---
# Carrier Service

In March the Carrier Service answered every request within two seconds.
The Carrier Service refuses parcels above thirty kilograms.
The trial covered four hundred parcels.
""",
    "notes/refunds.md": """\
---
title: Refund desk handbook
date: 2026-02-11
---
# Refund Rule

The Refund Rule covers every parcel that arrives a week late.
A clerk pays the refund in cash at the counter.
""",
    "notes/march-audit.md": """\
---
title: March audit
date: 2026-03-30
---
# March audit

The Refund Rule covers every parcel that arrives a week late.
The auditors counted nine refunds in March.
""",
    "notes/harbour-crane.md": """\
---
title: Harbour Crane
---
# Harbour Crane

Harbour Crane: nothing yet
""",
}

CODE = "carrier.py"
BEFORE = '''\
def give_up_after() -> int:
    """Seconds after which the client stops waiting for the carrier."""
    return 2
'''
AFTER = BEFORE.replace("return 2", "return 20")


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing that happens.

    Attributes:
        text: what a person is told before it.
        title: heading of the chapter that begins here, "" inside of one.
        command: words after ``mog``; ``{name}`` stands for what an earlier scene kept. Empty: only files are written.
        exit: exit code that the command has to answer with.
        writes: (path, text) of files that are written before.
        keep: name under which the number of the last event is kept, or, for ``open``, the evidence that waits.
    """

    text: str
    title: str = ""
    command: tuple[str, ...] = ()
    exit: int = 0
    writes: tuple[tuple[str, str], ...] = ()
    keep: str = ""


SCENES = (
    Scene(
        "Five notes of a parcel desk are read. Each sentence that states something becomes a claim with its source.",
        "Read",
        ("ingest", "notes"),
        writes=(*FILES.items(), (CODE, BEFORE)),
    ),
    Scene("Somebody takes something as true, so that work can go on.", "Believe", ("assume", WAIT)),
    Scene(
        "A decision rests on it.",
        command=(
            "decide", PRINT, "--because", "A queue at the counter costs less than a second visit", "--rests-on", WAIT,
        ),
    ),
    Scene(
        "Another decision rests on that one.",
        command=("decide", SPARE, "--because", "One label at a time is fast enough", "--rests-on", PRINT),
    ),
    Scene(
        "And a sentence from the notes is given a second reason.",
        command=("claim", STAND, "--rests-on", PRINT),
    ),
    Scene(
        "A question is answered by a path through what is known. The path is part of the answer.",
        "Ask",
        ("ask", "What does the Refund Rule cover?"),
    ),
    Scene("A decision answers with what it rests on.", command=("ask", "Why is the label printed while the customer waits?")),
    Scene(
        "A question about something that nothing names.",
        "Dead ends: four ways not to know",
        ("ask", "Who feeds the lighthouse cat?"),
        1,
    ),
    Scene(
        "One about something that is named, and about which nothing is said.",
        command=("ask", "How high is the Harbour Crane?"),
        exit=1,
    ),
    Scene(
        "One whose path leads to statements, none of which answers it. The fourth way comes later.",
        command=("ask", "Which ministry licensed the Label Printer?"),
        exit=1,
    ),
    Scene(
        "What would fall if the carrier were slower? This only looks; nothing is written.",
        "What if",
        ("invalidate", WAIT),
    ),
    Scene(
        "Now somebody measures it. Evidence and a judgement with a reason: only together do they make anything fall.",
        "Break",
        (
            "invalidate", WAIT, "--evidence", "On Monday the carrier took nine seconds", "--judge", "contradicts",
            "--reason", "measured at the counter, ten times in a row",
        ),
        keep="broken",
    ),
    Scene("The claim from the notes lost one reason and stands on the other.", command=("explain", STAND)),
    Scene(
        "The fourth dead end: there was an answer, and it fell. It is not offered any more, and it is said why.",
        command=("ask", "Why do we buy no spare machine?"),
        exit=1,
    ),
    Scene(
        "Two notes say the same about refunds. One of them turns out to be a draft and is taken back.",
        "Two sources",
        ("retract", "notes/refunds.md", "--reason", "a draft that was never agreed"),
    ),
    Scene("The claim survives, and says which source saved it.", command=("explain", REFUND)),
    Scene(
        "The measurement was of another carrier. Undo takes the event back: everything stands as before.",
        "Undo",
        ("ledger", "undo", "{broken}", "--reason", "it was another carrier"),
    ),
    Scene("The second decision stands again.", command=("explain", SPARE)),
    Scene(
        "A belief can be tied to code.",
        "Code under a belief",
        ("assume", LIMIT, "--about", PLACE),
    ),
    Scene(
        "Somebody edits the function. That alone rejects nothing; it becomes evidence, and a question that is open.",
        command=("recheck",),
        writes=((CODE, AFTER),),
        keep="open",
    ),
    Scene(
        "A person looks at it and judges.",
        command=("recheck", "--judge", "{open}=contradicts", "--reason", "it waits twenty seconds now"),
    ),
    Scene(
        "The edit is taken back: the evidence is withdrawn by itself, and the belief stands again.",
        command=("recheck",),
        writes=((CODE, BEFORE),),
    ),
    Scene(
        "Everything above is a chain of events. They are replayed, and the records are what the events give.",
        "Prove",
        ("ledger", "verify"),
    ),
)
"""The scenes in order. After the last one ``mog demo`` proves the event ``broken`` with the stand-alone verifier."""
