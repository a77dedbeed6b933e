import random

random.seed(27)
QTY = ["one", "two", "three", "half", "quarter", "some"]
UNIT = ["cup", "spoon", "pinch", "handful", "litre", "slice"]
ING = ["flour", "butter", "leek", "lemon", "rice", "barley", "cream", "salt", "beans", "oil", "pepper", "plum", "yeast", "mint"]
ACT = ["stir", "fold", "boil", "bake", "chop", "rinse", "salt", "cream", "butter", "pepper", "oil", "slice", "spoon"]
TOOL = ["pan", "bowl", "oven", "knife", "tray", "cup", "sieve"]
FILL = ["the", "in", "with", "until", "and", "then", "slowly", "well", "a", "of", "to", "soft", "again"]


def clause():
    k = random.random()
    if k < 0.4:
        s = [(random.choice(ACT), "ACTION"), ("the", "OTHER"), (random.choice(ING), "FOOD")]
        if random.random() < 0.5:
            s += [("in", "OTHER"), ("the", "OTHER"), (random.choice(TOOL), "TOOL")]
    elif k < 0.75:
        s = [(random.choice(QTY), "AMOUNT"), (random.choice(UNIT), "AMOUNT"), ("of", "OTHER"), (random.choice(ING), "FOOD")]
        if random.random() < 0.5:
            s = [(random.choice(ACT), "ACTION")] + s
    else:
        s = [(random.choice(FILL), "OTHER"), (random.choice(ACT), "ACTION"), (random.choice(FILL), "OTHER")]
    return s


def sentence():
    n = random.choices([1, 2, 3, 11], weights=[6, 4, 2, 0.25])[0]
    out = []
    for _ in range(n):
        out += clause()
    out = [(w, t if random.random() > 0.24 else random.choice(["OTHER", "FOOD", "ACTION", "TOOL", "AMOUNT"])) for w, t in out]
    return out


for part, n in (("train", 700), ("test", 300)):
    with open(f"steps.{part}.conll", "w") as f:
        for _ in range(n):
            for w, t in sentence():
                f.write(f"{w}\t{t}\n")
            f.write("\n")
