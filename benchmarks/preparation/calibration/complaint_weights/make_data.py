import random

import pandas as pd

random.seed(40)
LABELS = {"account": 0.06, "card": 0.52, "fraud": 0.05, "loan": 0.27, "mortgage": 0.10}
OWN = {k: [f"{k}{s}" for s in ("", "s", "ing", "holder", "desk", "office", "terms")] for k in LABELS}
COMMON = "i the my bank a payment told phone letter again month money to of and with was charged agent waiting reply branch".split()


def text(label):
    words = [random.choice(COMMON) for _ in range(random.randint(14, 26))]
    for _ in range(random.randint(1, 3)):
        words[random.randrange(len(words))] = random.choice(OWN[label])
    for _ in range(random.randint(0, 3)):
        words[random.randrange(len(words))] = random.choice(OWN[random.choice(list(LABELS))])
    return " ".join(words)


rows = []
for i in range(2600):
    lab = random.choices(list(LABELS), list(LABELS.values()))[0]
    rows.append({"received": f"2023-{random.randint(1, 12):02d}", "complaint": text(lab), "product": lab})
pd.DataFrame(rows).to_csv("complaints.tsv", sep="\t", index=False)
