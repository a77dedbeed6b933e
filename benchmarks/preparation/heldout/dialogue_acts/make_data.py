import random

random.seed(19)
NAMES = ["the captain", "the old miller", "her aunt", "the clerk", "the boy", "the innkeeper", "the doctor", "his brother"]
PLACES = ["harbour", "mill", "station", "church", "market", "barn", "bridge", "kitchen", "garden", "cellar"]
THINGS = ["letter", "lamp", "boat", "basket", "key", "horse", "coat", "ledger", "rope", "kettle", "map", "drum"]
ADJ = ["old", "broken", "heavy", "grey", "new", "wet", "small", "lost", "yellow", "borrowed"]
VERB = ["bring", "hide", "mend", "fetch", "sell", "clean", "carry", "burn"]


def pick(x):
    return random.choice(x)


def question():
    return pick([
        f"have you seen the {pick(ADJ)} {pick(THINGS)} near the {pick(PLACES)}",
        f"where did {pick(NAMES)} leave the {pick(THINGS)}",
        f"who told {pick(NAMES)} about the {pick(ADJ)} {pick(THINGS)}",
        f"could {pick(NAMES)} still {pick(VERB)} the {pick(THINGS)} before the {pick(PLACES)} closes",
        f"why would you {pick(VERB)} a {pick(ADJ)} {pick(THINGS)}",
    ])


def order():
    return pick([
        f"{pick(VERB)} the {pick(ADJ)} {pick(THINGS)} to the {pick(PLACES)} now",
        f"do not {pick(VERB)} the {pick(THINGS)} until {pick(NAMES)} is back",
        f"go to the {pick(PLACES)} and {pick(VERB)} the {pick(THINGS)}",
        f"let {pick(NAMES)} {pick(VERB)} the {pick(ADJ)} {pick(THINGS)}",
        f"leave the {pick(THINGS)} by the {pick(PLACES)} and come here",
    ])


def promise():
    return pick([
        f"tomorrow {pick(NAMES)} shall have the {pick(ADJ)} {pick(THINGS)} again",
        f"i will {pick(VERB)} the {pick(THINGS)} at the {pick(PLACES)} for you",
        f"you have my word that the {pick(THINGS)} stays in the {pick(PLACES)}",
        f"we shall {pick(VERB)} the {pick(ADJ)} {pick(THINGS)} together with {pick(NAMES)}",
    ])


def narration():
    return pick([
        f"in the evening {pick(NAMES)} walked from the {pick(PLACES)} to the {pick(PLACES)}",
        f"nobody had moved the {pick(ADJ)} {pick(THINGS)} since the winter",
        f"{pick(NAMES)} carried a {pick(ADJ)} {pick(THINGS)} past the {pick(PLACES)}",
        f"there was a {pick(THINGS)} on the floor of the {pick(PLACES)}",
    ])


def memory():
    return pick([
        f"she remembered how {pick(NAMES)} once lost a {pick(ADJ)} {pick(THINGS)}",
        f"years before a {pick(THINGS)} had burned in that {pick(PLACES)}",
        f"he thought again of the {pick(PLACES)} and the {pick(ADJ)} {pick(THINGS)}",
        f"as a child {pick(NAMES)} had feared the {pick(PLACES)}",
    ])


ACTS = {"question": question, "order": order, "promise": promise, "narration": narration, "memory": memory}


def write(path, n, start):
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.write("line_id\ttext\tact\n")
        spoken = 0
        for i in range(n):
            act = random.choices(list(ACTS), weights=[3, 3, 3, 2, 2])[0]
            if i == n - 1:
                act = ("narration", "order")[spoken % 2]
            spoken += act in ("question", "order", "promise")
            t = ACTS[act]()
            t = t[0].upper() + t[1:]
            if act == "question":
                t = '"' + t + "?" + random.choice(["", " " + pick(NAMES) + " asked"])
            elif act in ("order", "promise"):
                t = '"' + t + random.choice(["!", "."]) + random.choice(["", " said " + pick(NAMES)])
            else:
                t += "."
            f.write(f"{start + i}\t{t}\t{act}\n")


write("lines_train.tsv", 900, 1)
write("lines_test.tsv", 400, 5001)
