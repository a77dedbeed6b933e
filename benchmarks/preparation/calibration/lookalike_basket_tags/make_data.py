import numpy as np
import pandas as pd

rng = np.random.default_rng(13)
tags = ["baby", "bio", "cheap", "deli", "fresh", "frozen", "gift", "house", "meat", "pet", "snack", "sweet", "vegan", "wine"]
eff = rng.normal(0, 1, len(tags))
art = {a: rng.choice(len(tags), rng.integers(1, 4), replace=False) for a in range(200)}
pd.DataFrame([(a, tags[t]) for a, ts in art.items() for t in ts], columns=["article", "tag"]).sample(frac=1, random_state=0).to_csv("article_tags.csv", index=False)
lines, orders = [], []
for o in range(2400):
    arts = rng.choice(200, rng.integers(1, 7), replace=False)
    lines += [(o, a) for a in arts]
    z = np.mean([eff[t] for a in arts for t in art[a]]) * 2.2 + rng.normal(0, .5)
    orders.append((o, int(z > .1)))
pd.DataFrame(lines, columns=["order", "article"]).to_csv("order_lines.csv", index=False)
pd.DataFrame(orders, columns=["order", "home_delivery"]).to_csv("orders.csv", index=False)
