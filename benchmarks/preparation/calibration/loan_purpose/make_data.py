import numpy as np
import pandas as pd

rng = np.random.default_rng(6)
W = {"appliances": -.8, "boat": .4, "business": 1.3, "car": -1.2, "education": .9, "furniture": -.5, "medical": 1.6, "moving": .2, "renovation": -1.5, "travel": 1.1, "wedding": -.3}
EMP = {"civil servant": -1.0, "employee": -.2, "retired": .1, "self-employed": .9}


def make(n, purposes):
    p, e = rng.choice(purposes, n), rng.choice(list(EMP), n)
    amt, term, inc = rng.lognormal(8.8, .5, n), rng.choice([12, 24, 36, 48, 60], n), rng.lognormal(7.8, .35, n)
    z = np.array([W[i] for i in p]) * 1.4 + np.array([EMP[i] for i in e]) + .8 * (np.log(amt / inc) - 1) + .2 * (term - 36) / 17 - .3 + rng.normal(0, .7, n)
    return pd.DataFrame({"purpose": p, "amount": amt.round(), "months": term, "income": inc.round(), "employment": e, "defaulted": (z > 0).astype(int)})


base = [k for k in W if k not in ("boat", "wedding")]
make(3000, base + ["boat"]).to_csv("loans_2021.csv", index=False)
make(900, base + ["wedding"]).to_csv("loans_2022.csv", index=False)
