"""Values looked up by a key that another file spells."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.meaning.lookups import lookups

HEAD = "import csv\nimport torch\n\nwith open('depots.csv') as f:\n    depots = {r['code']: float(r['km']) for r in csv.DictReader(f)}\n"
LOOP = "x = []\nwith open('parcels.csv') as f:\n    for r in csv.DictReader(f):\n"


class LookedUpWithDefault(StaticRule, code="S915", cause="PRE-WRONG-STEP", preview=True):
    """A value is looked up by the key of another file, and where the key is not there a default is taken in silence.

    "42" does not find "0042", "berlin" does not find "Berlin ": every such row gets the default, and the network learns nothing of what the other
    file says. The source does not show whether the keys are spelled alike; `netmend run` compares the columns of both files and tells this only
    where their keys would match if they were.

    Bring both keys into one form before the look-up (`.strip()`, `.lower()`, `.zfill(4)`), and count how often the default is taken.
    """

    message = "Keys that are not found get a default here without a word; bring both into one form first, and count what is not found."
    triggers = (".get(", " in ")
    needs = "csv"

    GOOD = (
        Snippet("a missing key is an error", HEAD + LOOP + "        x.append(depots[r['depot']])\n"),
        Snippet("spelled alike first", HEAD + LOOP + "        x.append(depots.get(r['depot'].zfill(4), 100.0))\n"),
        Snippet("words of one text", "import csv\nimport torch\nvocab = {}\nfor word in text.split():\n    vocab.setdefault(word, len(vocab))\nids = [vocab.get(w, 1) for w in other.split()]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("with a default", HEAD + LOOP + "        x.append(depots.get(r['depot'], 100.0))\n", line=9),
        Snippet("asked first", HEAD + LOOP + "        if r['depot'] in depots:\n            x.append(depots[r['depot']])\n", line=9),
        Snippet("filled row by row", "import csv\nimport torch\n\ndef read():\n    known = {}\n    for row in csv.reader(open('a.csv')):\n        known[row[0]] = float(row[2])\n    return known\n\n"
                "known = read()\nx = [known.get(row[1], 0.0) for row in csv.reader(open('b.csv'))]\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for lookup in lookups(program):
            if isinstance(lookup.node, ast.AST):
                yield self.finding(program, lookup.node)
