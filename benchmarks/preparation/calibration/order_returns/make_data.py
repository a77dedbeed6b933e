import numpy as np
import pandas as pd

rng = np.random.default_rng(31)
skus = [f"SKU{i:04d}" for i in range(150)]
cat = []
for s in skus:
    group, cost = rng.choice(["shoes", "shirts", "coats", "belts"]), rng.uniform(8, 120)
    for rev in range(rng.integers(3, 7)):
        cat.append([s, group, f"20{19 + rev // 2}-0{1 + 5 * (rev % 2)}-01", round(cost * rng.normal(1, .02), 2)])
pd.DataFrame(cat, columns=["sku", "group", "valid_from", "list_price"]).sort_values("valid_from").to_csv("catalogue.csv", index=False)
rows = []
price = {c[0]: c[3] for c in cat}
for i in range(700):
    s = rng.choice(skus)
    disc, basket, days, age, prev = rng.uniform(0, .5), rng.gamma(2, 3), rng.integers(1, 12), rng.normal(42, 12), rng.random()
    z = 1.0 * (prev - .5) * 3 + .3 * (days - 6) / 3 + rng.normal(0, 1.0)
    rows.append([50000 + i, s, round(disc, 3), round(basket, 2), days, round(age, 1), round(prev, 3), int(z > 0)])
pd.DataFrame(rows, columns=["order_id", "sku", "discount", "basket", "delivery_days", "age", "past_return_rate", "returned"]).to_csv("orders.csv", index=False)
