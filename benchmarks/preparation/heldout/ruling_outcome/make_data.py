import json
import random

random.seed(3)
PARTY = ["the tenant", "the landlord", "the buyer", "the seller", "the carrier", "the insurer", "the builder", "the owner"]
THING = ["deposit", "roof", "delivery", "invoice", "contract", "damage", "repair", "deadline", "notice", "fee", "wall", "cargo"]
DID = ["had refused", "had accepted", "had delayed", "had questioned", "had paid for", "had inspected", "had disputed", "had granted", "had rejected", "had allowed"]
WHEN = ["in march", "after the second letter", "before the sale", "in the first instance", "during the winter", "on the day of the handover"]
BODY = [
    "{a} stated that {b} {d} the {t} {w}.",
    "the {t} was not mentioned by {a} {w}.",
    "a witness said that {a} {d} the {t}.",
    "according to {b} the {t} belonged to {a} {w}.",
    "the lower court held that {a} should {g} the {t}.",
]
END = {
    "granted": ["the appeal is well founded and the earlier decision is set aside.", "for these reasons the claim succeeds and {b} bears the costs.", "judgment is therefore given for {a} in full."],
    "dismissed": ["the appeal is without merit and the earlier decision stands.", "for these reasons the claim fails and {a} bears the costs.", "judgment is therefore given against {a} in full."],
    "remitted": ["the matter is sent back for a new hearing on the {t}.", "for these reasons the file returns to the lower court and costs are reserved.", "a decision cannot be taken before the {t} is examined again."],
}


def fill(s):
    a, b = random.sample(PARTY, 2)
    return s.format(a=a, b=b, t=random.choice(THING), d=random.choice(DID), w=random.choice(WHEN), g=random.choice(["bear", "return", "repeat"]))


def ruling(outcome):
    s = [fill(random.choice(BODY)) for _ in range(random.randint(3, 13))]
    s.append(fill(random.choice(END[outcome])))
    if random.random() < 0.4:
        s.append("done in open court " + random.choice(WHEN) + ".")
    return " ".join(s)


for part, n in (("train", 900), ("dev", 300)):
    with open(f"rulings_{part}.jsonl", "w") as f:
        for i in range(n):
            o = random.choices(list(END), weights=[3, 4, 3])[0]
            f.write(json.dumps({"id": f"{part}-{i}", "text": ruling(o), "outcome": o}) + "\n")
