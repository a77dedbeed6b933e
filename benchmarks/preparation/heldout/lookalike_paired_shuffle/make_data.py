import csv
import random

r = random.Random(71)
ends = {"harbour": ["port", "mouth", "quay", "haven"], "hill": ["berg", "mont", "peak", "tor"],
        "forest": ["wood", "holt", "grove", "shaw"], "river": ["ford", "bridge", "weir", "brook"]}
cons, vow = "bdfgklmnprstvw", "aeiou"
with open("places.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["name", "kind"])
    for _ in range(2400):
        k = r.choice(list(ends))
        stem = "".join(r.choice(cons) + r.choice(vow) for _ in range(r.randint(1, 3))) + r.choice(cons)
        w.writerow([(stem + r.choice(ends[k])).capitalize(), k if r.random() > 0.04 else r.choice(list(ends))])
