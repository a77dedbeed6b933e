import csv
import datetime as dt
import numpy as np

rng = np.random.default_rng(29)
players = [f"P{n:03d}" for n in range(700)]
skill = rng.normal(0, 0.7, 700)
day = dt.date(2019, 1, 1)
with open("matches.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["date", "player", "opponent", "home", "won"])
    for i in range(3600):
        if i % 9 == 0:
            day += dt.timedelta(days=1)
        a, b = rng.choice(700, 2, replace=False)
        home = int(rng.random() < 0.5)
        p = 1 / (1 + np.exp(-(skill[a] - skill[b] + 0.5 * home - 0.25)))
        won = int(rng.random() < p)
        w.writerow([day, players[a], players[b], home, won])
        w.writerow([day, players[b], players[a], 1 - home, 1 - won])
