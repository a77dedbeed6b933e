import csv
import datetime as dt
import numpy as np

rng = np.random.default_rng(63)
meters = [f"M{n:03d}" for n in range(60)]
level = {m: rng.normal(20, 6) for m in meters}
state = {m: 0.0 for m in meters}
rows = []
for d in range(90):
    day = dt.date(2023, 1, 1) + dt.timedelta(days=d)
    t = 5 + 4 * np.sin(d / 9) + rng.normal(0, 1)
    for m in meters:
        state[m] = 0.8 * state[m] + rng.normal(0, 1.2)
        kwh = level[m] + state[m] - 0.4 * t + (1.5 if day.weekday() > 4 else 0) + rng.normal(0, 0.6)
        rows.append((m, day.isoformat(), f"{t:.1f}", f"{max(kwh, 0.1):.2f}"))
rng.shuffle(rows)
with open("readings.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["meter", "day", "temp_forecast", "kwh"])
    w.writerows(rows)
