import numpy as np
import pandas as pd

rng = np.random.default_rng(4)
n = 1400
glu, bmi, age, ped = rng.normal(118, 28, n), rng.normal(31, 6, n), rng.gamma(4, 8, n) + 18, rng.gamma(2, .24, n)
z = .7 * (glu - 118) / 28 + .35 * (bmi - 31) / 6 + .3 * (age - 50) / 16 + rng.logistic(0, .9, n)
y = (z > .4).astype(int)
ins = np.exp(4.6 + .012 * (glu - 118) + .25 * y + rng.normal(0, .5, n))
skin = 20 + .5 * (bmi - 31) + 3 * y + rng.normal(0, 7, n)
df = pd.DataFrame({"glucose": glu.round(), "insulin": ins.round(), "skin_mm": skin.round(), "bmi": bmi.round(1), "pedigree": ped.round(3), "age": age.round(), "outcome": y})
for c, p in (("glucose", .05), ("insulin", .5), ("skin_mm", .35), ("bmi", .05)):
    df.loc[rng.random(n) < p, c] = np.nan
df.to_csv("clinic.csv", index=False)
