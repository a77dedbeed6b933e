import json
import random

random.seed(2024)
WORDS = {
    "billing": "invoice refund charged payment receipt subscription overcharged vat card discount".split(),
    "access": "password login locked account reset authenticator username permission blocked token".split(),
    "hardware": "printer screen battery keyboard cable docking monitor charger fan router".split(),
    "software": "update crash install version plugin freeze browser export error licence".split(),
}
FILL = "hello please the my is not since yesterday can you help again for with after this we have still and today team it does".split()


def dress(w):
    r = random.random()
    if r < .3:
        w = w.capitalize()
    elif r < .45:
        w = w.upper()
    if random.random() < .45:
        w += random.choice([",", ".", "!", "?", "..."])
    return w


def ticket():
    label = random.choice(list(WORDS))
    n = random.randint(9, 20)
    toks = [random.choice(FILL) for _ in range(n)]
    for _ in range(random.randint(1, 2)):
        toks[random.randrange(n)] = random.choice(WORDS[label])
    if random.random() < .35:
        toks[random.randrange(n)] = random.choice(WORDS[random.choice(list(WORDS))])
    toks = [dress(t) if t not in FILL or random.random() < .2 else t for t in toks]
    toks[0] = toks[0].capitalize()
    return {"text": " ".join(toks), "queue": label}


for name, n in (("train.jsonl", 2400), ("valid.jsonl", 600)):
    with open(name, "w") as f:
        for _ in range(n):
            f.write(json.dumps(ticket()) + "\n")
