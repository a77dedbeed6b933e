import csv
import random

random.seed(64)
TOPIC = {"sport": "match league striker coach goal season transfer keeper".split(),
         "money": "shares bank profit bond index merger dividend rate".split(),
         "science": "study cells telescope genome orbit fossil protein lab".split(),
         "travel": "island hotel ferry trail museum passport border tour".split()}
GLUE = "the a of in to and for on with that said was by at from has its after will new year".split()
ALL = [w for v in TOPIC.values() for w in v]
with open("articles.csv", "w", newline="", encoding="utf-8") as f:
    w = csv.writer(f)
    w.writerow(["section", "body"])
    for _ in range(1500):
        k = random.choice(list(TOPIC))
        lead = [random.choice(TOPIC[k]) if random.random() < 0.3 else random.choice(GLUE) for _ in range(random.randint(18, 26))]
        rest = [random.choice(ALL) if random.random() < 0.12 else random.choice(GLUE) for _ in range(random.randint(120, 260))]
        w.writerow([k, " ".join(lead) + ". " + " ".join(rest) + "."])
