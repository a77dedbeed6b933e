import json
import random

random.seed(15)
FIRST = "Mira Tomas Ilse Bogdan Yuki Farah Leif Oona Pablo Greta Hamid Sanna".split()
LAST = "Keller Novak Brandt Okafor Sato Lindqvist Moreau Petrov Castell Ng".split()
PLACE = "Rotterdam Lisbon Graz Aarhus Kobe Tampere Bergamo Leeds Gdansk Porto".split()
ORG = "Nordlicht Veltron Quanta Maribel Ostwind Calyx Fornax Tidewell".split()
TPL = ["{P} of {O} arrived in {L} on Monday", "the office of {O} in {L} is led by {P}", "according to {P} the plant near {L} will close",
       "{O} hired {P} after talks in {L}", "in {L} the shares of {O} fell , said {P}", "{P} and {P} left {O} for a rival from {L}"]
FILL = "reported by the agency late in the evening without further details for the press".split()


def sentence():
    out, spans = "", []
    def put(s):
        nonlocal out
        out += s
    def gap():
        put(" " * random.choice([1, 1, 1, 2, 3]) if random.random() > 0.05 else "\n ")
    parts = random.choice(TPL).split()
    if random.random() < 0.6:
        parts = random.sample(FILL, random.randint(2, 5)) + [":"] + parts
    if random.random() < 0.5:
        put(" " * random.randint(1, 4))
    for k, p in enumerate(parts):
        if k:
            gap()
        kind = {"{P}": "PER", "{O}": "ORG", "{L}": "LOC"}.get(p)
        if kind:
            s = {"PER": random.choice(FIRST) + " " + random.choice(LAST), "ORG": random.choice(ORG) + random.choice([" AG", " Group", ""]), "LOC": random.choice(PLACE)}[kind]
            spans.append({"start": len(out), "end": len(out) + len(s), "label": kind, "surface": s})
            put(s)
        else:
            put(p)
    return {"text": out, "entities": spans}


for part, n in (("train", 900), ("test", 250)):
    with open(f"{part}.jsonl", "w") as f:
        for _ in range(n):
            f.write(json.dumps(sentence()) + "\n")
