import csv
import datetime as dt
import math
import random

rng = random.Random(11)
start = dt.datetime(2022, 3, 1)
dev = 0.0
with open("feeder_7.csv", "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["timestamp", "load_mw", "temp_c", "wind_ms"])
    wind = 4.0
    for i in range(24 * 260):
        t = start + dt.timedelta(hours=i)
        temp = 11 + 9 * math.sin(2 * math.pi * i / 8760) + 4 * math.sin(2 * math.pi * (t.hour - 9) / 24) + rng.gauss(0, 1)
        wind = max(0.0, 0.9 * wind + 0.4 + rng.gauss(0, 0.6))
        dev = 0.55 * dev + rng.gauss(0, 2.6)
        base = 42 + 9 * math.sin(2 * math.pi * (t.hour - 7) / 24) + 4 * math.sin(4 * math.pi * (t.hour - 4) / 24)
        base -= 6 if t.weekday() >= 5 else 0
        load = base + 0.35 * max(0, 14 - temp) + dev
        w.writerow([t.strftime("%Y-%m-%d %H:%M"), f"{load:.3f}", f"{temp:.2f}", f"{wind:.2f}"])
