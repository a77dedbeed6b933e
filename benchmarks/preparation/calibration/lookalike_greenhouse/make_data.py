import numpy as np
import pandas as pd

rng = np.random.default_rng(71)
n = 1800
t = rng.normal(22, 5, n).clip(-5, 50)
h = rng.normal(60, 15, n).clip(0, 100)
lux = rng.gamma(2, 12000, n).clip(0, 100000)
co2 = rng.normal(700, 200, n).clip(300, 2000)
z = -((t - 24) / 5) ** 2 - ((h - 65) / 18) ** 2 + lux / 30000 + (co2 - 700) / 400 + rng.normal(0, .5, n)
pd.DataFrame({"temp_c": t, "rel_humidity": h, "light_lux": lux, "co2_ppm": co2, "growth": np.where(z > -.6, "good", "poor")}).round(2).to_csv("greenhouse.csv", index=False)
