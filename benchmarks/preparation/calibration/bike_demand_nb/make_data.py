import numpy as np
import pandas as pd

rng = np.random.default_rng(12)
DOCKS = {f"{a} {b}": rng.normal(0, .7) for a in ("Abbey", "Bridge", "Castle", "Dock", "East", "Ferry", "Garden") for b in ("Gate", "Lane", "Row", "Square")}
SKY = {"clear": .4, "cloudy": .1, "fog": -.3, "rain": -1.0, "snow": -1.5}


def table(n, docks, skies):
    d, s = rng.choice(docks, n), rng.choice(skies, n)
    hour, temp = rng.integers(5, 24, n), rng.normal(14, 7, n)
    mu = 2.4 + np.array([DOCKS[k] for k in d]) + np.array([SKY[k] for k in s]) + .5 * np.cos((hour - 17) / 24 * 2 * np.pi) + .03 * (temp - 14)
    return pd.DataFrame({"dock": d, "sky": s, "hour": hour, "temp": temp.round(1), "rentals": rng.poisson(np.exp(mu))})


names = list(DOCKS)
table(5000, names, list(SKY)).to_csv("rentals_train.csv", index=False)
closed = {"Abbey Lane", "Castle Gate", "Ferry Row"}
table(1300, [k for k in names if k not in closed], ["clear", "cloudy", "rain"]).to_csv("rentals_test.csv", index=False)
