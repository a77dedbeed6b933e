import numpy as np
import pandas as pd

rng = np.random.default_rng(100)


def month_rows(n, gap):
    traffic, temp, hum = rng.gamma(3, 1, n), rng.normal(18, 7, n), rng.uniform(20, 90, n)
    nox = 3.2 + .9 * traffic + rng.normal(0, .3, n)
    nmhc = 5.5 + .6 * traffic + .05 * temp + rng.normal(0, .3, n)
    o3 = 6 - .5 * traffic + .08 * temp + rng.normal(0, .3, n)
    no2 = 4 + .5 * traffic - .01 * hum + rng.normal(0, .3, n)
    benz = .4 + 2.1 * traffic ** 1.2 + .03 * temp + rng.normal(0, .4, n)
    df = pd.DataFrame({"s_nox": nox, "s_nmhc": nmhc, "s_o3": o3, "s_no2": no2, "temp": temp, "rel_hum": hum}).round(2)
    for c in df.columns:
        df.loc[rng.random(n) < gap, c] = -200
    df["benzene"] = benz.round(2)
    return df


month_rows(3600, .09).to_csv("station_a.csv", index=False, sep=";")
month_rows(900, .09).to_csv("station_b.csv", index=False, sep=";")
