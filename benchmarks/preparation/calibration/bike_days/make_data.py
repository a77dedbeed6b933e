import csv
import datetime as dt
import math
import random

random.seed(4)
rows = []
stations = ["Harbour", "Museum", "Campus", "Old Town"]
day = dt.date(2019, 1, 1)
while day < dt.date(2022, 1, 1):
    doy = day.timetuple().tm_yday
    season = math.sin(2 * math.pi * (doy - 105) / 365)
    for k, s in enumerate(stations):
        if random.random() < 0.15:
            continue
        week = -0.35 if day.weekday() >= 5 and s == "Campus" else (0.3 if day.weekday() >= 5 else 0)
        n = (90 + 30 * k) * (1 + 0.6 * season + week) + random.gauss(0, 8)
        rows.append([day.strftime("%d/%m/%Y"), s, random.choice([12, 16, 20]) , max(0, round(n))])
    day += dt.timedelta(days=1)
random.shuffle(rows)
with open("rentals.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["date", "station", "docks", "rentals"])
    w.writerows(rows)
