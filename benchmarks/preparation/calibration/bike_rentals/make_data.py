import numpy as np
import pandas as pd

rng = np.random.default_rng(2)
days = pd.date_range("2019-01-01", "2022-12-31")
doy = days.dayofyear.to_numpy()
wd = days.weekday.to_numpy()
holiday = rng.random(len(days)) < 0.03
wind = rng.gamma(3, 4, len(days))
season = 2600 - 1900 * np.cos(2 * np.pi * (doy - 20) / 365)
n = season * np.where(wd >= 5, 0.75, 1.05) * np.where(holiday, 0.7, 1) - 18 * wind + rng.normal(0, 140, len(days))
df = pd.DataFrame({"date": days.strftime("%d/%m/%Y"), "wind_kmh": wind.round(1), "holiday": holiday.astype(int), "rentals": n.clip(50).round().astype(int)})
df.to_csv("rentals.csv", index=False)
