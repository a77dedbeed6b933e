import csv
import numpy as np

rng = np.random.default_rng(8)
zips = [f"{z:05d}" for z in rng.choice(np.arange(1001, 9990), 70, replace=False)]
zips += [str(z) for z in rng.choice(np.arange(10001, 19999), 50, replace=False)]
area = {}
with open("areas.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["zip", "median_income", "transit_score", "crime_rate"])
    for z in zips:
        area[z] = (rng.normal(60, 18), rng.uniform(10, 95), rng.gamma(3, 4))
        w.writerow([z, f"{area[z][0]:.1f}", f"{area[z][1]:.0f}", f"{area[z][2]:.2f}"])
with open("listings.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["listing", "zip", "rooms", "sqft", "floor", "rent"])
    for i in range(3000):
        z = zips[rng.integers(len(zips))]
        a = area[z]
        rooms = int(rng.integers(1, 6))
        sq = 180 + 220 * rooms + rng.normal(0, 60)
        fl = int(rng.integers(0, 20))
        rent = 500 + 0.55 * sq + 12 * (a[0] - 60) + 6 * (a[1] - 50) - 14 * (a[2] - 12) + 5 * fl + rng.normal(0, 70)
        w.writerow([f"A{i}", z, rooms, f"{sq:.0f}", fl, f"{max(rent, 200):.0f}"])
