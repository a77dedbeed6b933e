import random

random.seed(50)
first = [f"na{i}" for i in range(90)]
place = [f"pl{i}" for i in range(90)]
amb = [f"am{i}" for i in range(40)]
verbs = "met visited called left saw joined thanked".split()
prep = "in near at from to".split()
fill = "the a old new report yesterday again said that about with and today later office street team plan".split()


def sent():
    out = []
    for _ in range(random.choices([1, 2, 3, 6], [.4, .35, .17, .08])[0]):
        r = random.random()
        if r < .38:
            out.append((random.choice(amb if random.random() < .45 else first), "PER"))
            out.append((random.choice(verbs if random.random() < .7 else fill), "O"))
        elif r < .75:
            out.append((random.choice(prep if random.random() < .7 else fill), "O"))
            out.append((random.choice(amb if random.random() < .45 else place), "LOC"))
        else:
            out.append((random.choice(amb), random.choice(["ORG", "O"])))
        for _ in range(random.randint(0, 3)):
            out.append((random.choice(fill), "O"))
    return out


for fn, n in [("train.conll", 1500), ("test.conll", 400)]:
    with open(fn, "w") as f:
        for _ in range(n):
            for w, t in sent():
                f.write(f"{w} {t}\n")
            f.write("\n")
