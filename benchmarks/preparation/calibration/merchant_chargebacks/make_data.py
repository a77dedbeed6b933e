import json
import numpy as np
import pandas as pd

rng = np.random.default_rng(88)
m = 900
risk = rng.normal(0, .5, m)
names = np.array([f"M{i:05d}" for i in rng.choice(99999, m, replace=False)])


def year(y, n):
    k = rng.integers(0, m, n)
    val, night, age = rng.normal(0, 1, n), rng.random(n) < .3, rng.exponential(2, n)
    z = risk[k] + .35 * val + .4 * night - .1 * age - .1 + rng.logistic(0, 1, n)
    return pd.DataFrame({"year": y, "merchant": names[k], "log_value": val.round(3), "night": night.astype(int), "account_years": age.round(2), "chargeback": (z > 0).astype(int)})


pd.concat([year(2021, 3600), year(2022, 3000)]).to_csv("payments.csv", index=False)
json.dump({"data": "payments.csv", "history_year": 2021, "model_year": 2022, "prior_weight": 2.0, "epochs": 12, "lr": 0.004, "seed": 3}, open("config.json", "w"), indent=2)
