import numpy as np
import pandas as pd

rng = np.random.default_rng(12)


def table(n, regions, p):
    r = rng.choice(regions, n, p=p)
    smoker = rng.choice(["yes", "no"], n, p=[.2, .8])
    age = rng.integers(18, 65, n)
    bmi = rng.normal(30, 6, n)
    up = pd.Series(r).map({"north": 0, "south": .15, "east": -.1, "west": .05, "islands": .3}).to_numpy()
    c = np.exp(7.6 + .03 * age + .012 * bmi + 1.3 * (smoker == "yes") + up + rng.normal(0, .15, n))
    return pd.DataFrame({"age": age, "bmi": bmi.round(1), "smoker": smoker, "region": r, "charges": c.round(2)})


table(1200, ["north", "south", "east", "west", "islands"], [.25, .25, .2, .2, .1]).to_csv("insurance_train.csv", index=False)
table(300, ["north", "south", "west"], [.4, .3, .3]).to_csv("insurance_test.csv", index=False)
