import csv
import random

random.seed(23)
TOPIC = {
    "outage": ["down", "offline", "unreachable", "timeout", "restart", "alarm", "crash", "error"],
    "billing": ["invoice", "charge", "refund", "card", "payment", "tax", "price", "receipt"],
    "account": ["password", "login", "email", "profile", "reset", "locked", "name", "code"],
    "delivery": ["parcel", "courier", "address", "late", "tracking", "box", "damaged", "return"],
}
COMMON = "please since yesterday customer again order service number help still waiting wrong today twice page system support called nothing changed".split()
SHARE = {"outage": 0.035, "billing": 0.22, "account": 0.07, "delivery": 0.675}


def text(lab):
    out = []
    for _ in range(random.randint(9, 18)):
        r = random.random()
        if r < 0.17:
            out.append(random.choice(TOPIC[lab]))
        elif r < 0.30:
            out.append(random.choice(TOPIC[random.choice(list(TOPIC))]))
        else:
            out.append(random.choice(COMMON))
    return " ".join(out)


with open("tickets.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["ticket", "queue", "part"])
    for i in range(3600):
        lab = random.choices(list(SHARE), weights=SHARE.values())[0]
        w.writerow([text(lab), lab, "test" if i % 3 == 2 else "train"])
