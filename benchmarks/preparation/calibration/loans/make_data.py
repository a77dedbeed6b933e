import numpy as np
import pandas as pd

rng = np.random.default_rng(77)
n = 700
ids = rng.permutation(np.arange(10000, 10000 + n))
X = rng.normal(size=(n, 6))
z = 0.7 * X[:, 0] - 0.5 * X[:, 1] + rng.normal(0, 1.3, n)
default = (z > 0).astype(int)
pd.DataFrame({
    "customer_id": ids, "age": (42 + 11 * rng.normal(size=n)).round(1), "income": (2600 + 700 * X[:, 0]).round(2),
    "debt": (9000 + 2500 * X[:, 1]).round(2), "loan_amount": (12000 + 4000 * X[:, 2]).round(2),
    "months_employed": (60 + 20 * X[:, 3]).round(1), "score_ext": (500 + 80 * X[:, 4]).round(1), "default": default,
}).to_csv("application.csv", index=False)
rows = []
for c in ids:
    k = rng.integers(1, 10)
    start = 2005
    for j in range(k):
        start += rng.integers(1, 4)
        rows.append((c, start, rng.choice(["rent", "own", "parents"]), int(rng.integers(10, 99))))
pd.DataFrame(rows, columns=["customer_id", "since", "housing", "region"]).to_csv("addresses.csv", index=False)
