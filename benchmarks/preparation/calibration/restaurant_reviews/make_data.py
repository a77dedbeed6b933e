import random

random.seed(33)
good = "good great tasty friendly fresh clean quick lovely".split()
bad = "bad awful cold rude slow dirty stale bland".split()
things = "soup staff pasta service table coffee room dessert menu waiter".split()
neutral = ["place", "today", "lunch", "again", "friends", "price", "evening"]


def review():
    score = 0
    toks = []
    for _ in range(random.randint(2, 4)):
        toks.append(random.choice(things))
        pos = random.random() < 0.85
        neg = random.random() < 0.45
        if neg:
            toks.append("not")
        toks.append(random.choice(good if pos else bad))
        score += 1 if pos != neg else -1
        if random.random() < .4:
            toks.append(random.choice(neutral))
    return score, " ".join(toks)


with open("reviews.tsv", "w") as f:
    f.write("stars\treview\n")
    k = 0
    while k < 4000:
        s, t = review()
        if s == 0:
            continue
        f.write(f"{5 if s > 1 else 4 if s > 0 else 2 if s > -2 else 1}\t{t}\n")
        k += 1
