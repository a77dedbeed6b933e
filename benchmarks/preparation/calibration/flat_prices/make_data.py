import numpy as np
import pandas as pd

rng = np.random.default_rng(5)
n = 2400
area = rng.gamma(9, 8, n) + 15
rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.6, n)), 1, 8)
floor = rng.integers(0, 14, n)
year = rng.integers(1925, 2022, n)
dist = rng.gamma(2.0, 2.2, n)
district = rng.choice(["north", "old town", "harbour", "west"], n, p=[.3, .2, .2, .3])
bonus = pd.Series(district).map({"north": -0.15, "old town": 0.35, "harbour": 0.2, "west": 0.0}).to_numpy()
log_price = 7.2 + 0.85 * np.log(area) - 0.05 * dist + 0.004 * (year - 1970) + 0.01 * floor + bonus + rng.normal(0, 0.08, n)
area_out = area.copy()
typo = rng.random(n) < 0.03
area_out[typo] *= 10
pd.DataFrame({
    "id": np.arange(1, n + 1), "area_m2": area_out.round(1), "rooms": rooms.astype(int), "floor": floor,
    "year_built": year, "km_to_centre": dist.round(2), "district": district, "price": np.exp(log_price).round(-1),
}).to_csv("flats.csv", index=False)
