import csv
import numpy as np

rng = np.random.default_rng(5)
FUEL = ["petrol", "diesel", "hybrid"]
GEAR = ["manual", "automatic"]


def rows(n, gaps):
    out = []
    for _ in range(n):
        age = rng.integers(0, 16)
        km = max(1.0, age * rng.normal(14, 4) + rng.normal(0, 5))
        hp = rng.normal(130, 35)
        fuel, gear = rng.choice(FUEL), rng.choice(GEAR)
        price = 9.9 - 0.09 * age - 0.004 * km + 0.006 * (hp - 130) + {"petrol": 0, "diesel": .08, "hybrid": .2}[fuel] + (.07 if gear == "automatic" else 0)
        price = np.exp(price + rng.normal(0, .08))
        r = [int(age), round(km, 1), round(hp), fuel, gear, round(price)]
        if gaps:
            if rng.random() < .12:
                r[1] = ""
            if rng.random() < .08:
                r[2] = ""
            if rng.random() < .05:
                r[5] = 1
        out.append(r)
    return out


for name, n, gaps in (("ads_train.csv", 2600, True), ("ads_test.csv", 700, False)):
    with open(name, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["age", "km_thousand", "hp", "fuel", "gear", "price"])
        w.writerows(rows(n, gaps))
