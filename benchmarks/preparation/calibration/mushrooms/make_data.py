import numpy as np
import pandas as pd

rng = np.random.default_rng(14)
levels = {"odor": ["almond", "anise", "creosote", "fishy", "foul", "musty", "none"], "cap_color": ["brown", "buff", "gray", "red", "white", "yellow"],
          "gill": ["broad", "narrow"], "habitat": ["grass", "leaves", "meadow", "path", "woods"], "ring": ["flaring", "large", "none", "pendant"]}
effect = {c: dict(zip(v, rng.normal(0, 1.6, len(v)))) for c, v in levels.items()}


def table(n):
    d = {c: rng.choice(v, n, p=rng.dirichlet(np.full(len(v), 6.0))) for c, v in levels.items()}
    d["cap_cm"] = rng.gamma(6, 1.2, n).round(2)
    d["stalk_cm"] = rng.gamma(5, 1.4, n).round(2)
    s = sum(np.array([effect[c][k] for k in d[c]]) for c in levels) + 0.3 * (d["cap_cm"] - 7) + rng.normal(0, .6, n)
    d["poisonous"] = np.where(s > 0, "yes", "no")
    return pd.DataFrame(d)


table(2500).to_csv("train.csv", index_label="id")
table(800).to_csv("test.csv", index_label="id")
