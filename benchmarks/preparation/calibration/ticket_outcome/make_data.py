import json
import random

random.seed(73)
FILL = ("customer wrote that the parcel router invoice screen cable was late broken wrong missing and asked for help again agent "
        "checked order address serial number warehouse called courier opened case sent form waiting photo battery returned sleeve "
        "old new second first after before with without from to in on by").split()
END = {"refund": ["amount paid back to the account", "money went back to card", "voucher cancelled and sum returned"],
       "replace": ["unit swapped for a fresh one", "spare item shipped and arrived", "exchange done at the shop"],
       "reject": ["claim turned down as out of term", "no grounds found so nothing granted", "denied since damage was caused by use"]}
HINT = {"refund": "money", "replace": "swap", "reject": "denied"}


def ticket(label):
    n = random.choice([random.randint(10, 30), random.randint(60, 130), random.randint(60, 130)])
    words = random.choices(FILL, k=n)
    if random.random() < 0.5:
        words[random.randrange(len(words))] = random.choice(list(HINT.values()))
    return " ".join(words) + " . outcome : " + random.choice(END[label]) + " " + " ".join(random.choices(FILL, k=random.randint(0, 3)))


with open("tickets.jsonl", "w") as f:
    for i in range(1900):
        lab = random.choice(list(END))
        f.write(json.dumps({"id": i, "log": ticket(lab), "outcome": lab, "split": "test" if i % 5 == 0 else "train"}) + "\n")
json.dump({"max_length": 40, "vocab_size": 3000, "dim": 32, "batch": 48, "epochs": 9, "lr": 0.004}, open("config.json", "w"), indent=2)
