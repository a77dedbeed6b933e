import numpy as np
import polars as pl

rng = np.random.default_rng(40)


def season(n, mean_temp, sd):
    temp = rng.normal(mean_temp, sd, n)
    wind = rng.gamma(2, 2, n)
    sun = np.clip(rng.normal(250 + 12 * mean_temp, 120, n), 0, None)
    occ = rng.uniform(.2, 1, n)
    load = 40 + 3.1 * np.maximum(0, 17 - temp) + 1.2 * wind - .03 * sun + 2.4 * np.maximum(0, temp - 22) - 12 * occ + rng.normal(0, 3, n)
    return pl.DataFrame({"outdoor_temp": temp.round(2), "wind": wind.round(2), "sun": sun.round(1), "occupancy": occ.round(3), "load_kw": load.round(2)})


season(3000, 8.0, 7.5).write_csv("year1.csv")
season(500, 16.5, 4.0).write_csv("spring_year2.csv")
