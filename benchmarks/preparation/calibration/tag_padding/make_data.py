import random

rng = random.Random(19)
syl = ["ka", "lo", "mi", "ter", "sun", "dra", "vel", "po", "nix", "gar", "ul", "be", "sho", "rin"]


def w(n):
    return "".join(rng.choice(syl) for _ in range(n))


lex = {"DET": ["the", "a", "this", "some"], "ADP": ["in", "on", "by", "to", "that"], "PRON": ["she", "it", "they", "that", "this"],
       "NOUN": [w(2) for _ in range(160)], "VERB": [w(2) for _ in range(110)], "ADJ": [w(3) for _ in range(80)], "ADV": [w(2) + "ly" for _ in range(30)]}
lex["VERB"] += rng.sample(lex["NOUN"], 70)
lex["ADJ"] += rng.sample(lex["NOUN"], 30)


def np_():
    out = []
    if rng.random() < 0.3:
        return [(rng.choice(lex["PRON"]), "PRON")]
    if rng.random() < 0.6:
        out.append((rng.choice(lex["DET"]), "DET"))
    while rng.random() < 0.35:
        out.append((rng.choice(lex["ADJ"]), "ADJ"))
    return out + [(rng.choice(lex["NOUN"]), "NOUN")]


def clause():
    out = np_()
    if rng.random() < 0.4:
        out.append((rng.choice(lex["ADV"]), "ADV"))
    out.append((rng.choice(lex["VERB"]), "VERB"))
    if rng.random() < 0.7:
        out += np_()
    while rng.random() < 0.4:
        out += [(rng.choice(lex["ADP"]), "ADP")] + np_()
    return out


def write(path, n):
    with open(path, "w") as f:
        for _ in range(n):
            s = clause()
            if rng.random() < 0.12:
                for _ in range(rng.randint(2, 5)):
                    s += clause()
            s = [(rng.choice(lex["NOUN"]) if rng.random() < 0.05 else a, t) for a, t in s]
            f.write("\n".join(f"{a}\t{t}" for a, t in s) + "\n\n")


write("train.conll", 700)
write("test.conll", 250)
