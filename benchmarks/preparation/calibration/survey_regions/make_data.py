import csv
import numpy as np

rng = np.random.default_rng(66)
RULE = {"AP": (1.0, .6), "EU": (.8, .9), "NA": (-1.4, -1.1), "SA": (1.1, .2)}
with open("survey.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["respondent", "region", "age", "price_score", "service_score", "visits", "would_renew"])
    for i in range(4200):
        reg = rng.choice(list(RULE), p=[.22, .26, .34, .18])
        a, b = RULE[reg]
        age, pr, se, v = rng.normal(44, 13), rng.normal(), rng.normal(), rng.poisson(3)
        z = 1.5 * a * pr + 1.5 * b * se + .01 * (age - 44) + rng.normal(0, .6)
        w.writerow([i, reg, "" if rng.random() < .06 else int(age), round(pr, 2), "" if rng.random() < .04 else round(se, 2), v, int(z > 0)])
