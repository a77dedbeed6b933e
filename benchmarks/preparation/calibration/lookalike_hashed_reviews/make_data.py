import csv
import random

random.seed(77)
GOOD = "lovely excellent quick fresh tasty warm generous friendly clean recommend".split()
BAD = "cold slow rude dirty stale bland expensive noisy late disappointing".split()
REST = "the we had a table near window with soup and fish our waiter came after menu was long bread evening again place street".split()


def review():
    good = random.random() < .5
    w = [random.choice(REST) for _ in range(random.randint(12, 30))]
    for _ in range(random.randint(2, 4)):
        w[random.randrange(len(w))] = random.choice(GOOD if good else BAD)
    if random.random() < .5:
        w[random.randrange(len(w))] = random.choice(BAD if good else GOOD)
    return " ".join(w).capitalize() + ".", int(good)


for name, n in (("reviews_train.csv", 2000), ("reviews_test.csv", 500)):
    with open(name, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["text", "positive"])
        w.writerows(review() for _ in range(n))
