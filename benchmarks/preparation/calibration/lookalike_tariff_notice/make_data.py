import numpy as np
import polars as pl

rng = np.random.default_rng(36)
days = 900
week = np.arange(days) % 7
price, p = np.empty(days), 30.0
note = [None] * days
for s in range(0, days, 15):
    p = float(np.clip(p + rng.normal(0, 5), 15, 50))
    e = min(s + 15, days)
    price[s:e] = p
    note[e - 1] = round(p, 2)
temp = 12 + 9 * np.sin(2 * np.pi * np.arange(days) / 365) + rng.normal(0, 2, days)
use = 60 - .7 * (price - 30) - .9 * (temp - 12) + 4 * (week >= 5) + rng.normal(0, 2, days)
pl.DataFrame({"day": np.arange(days), "weekday": week, "temp_forecast": (temp + rng.normal(0, 1, days)).round(1), "tariff_until_day": note, "kwh": use.round(2)}).write_csv("household.csv")
