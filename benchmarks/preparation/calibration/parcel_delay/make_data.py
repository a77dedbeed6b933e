import csv
import random

random.seed(9)
depots = {}
for k in random.sample(range(1, 1600), 120):
    depots[k] = (random.uniform(5, 240), random.choice([0, 0, 1]), random.randint(2, 40))
with open("depots.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["code", "km_to_hub", "rural", "vans"])
    for k, (km, rural, vans) in sorted(depots.items()):
        w.writerow([f"{k:04d}", f"{km:.1f}", rural, vans])


def parcel():
    k = random.choice(list(depots))
    km, rural, vans = depots[k]
    kg, pieces, hour = random.expovariate(1 / 6), random.choice([1, 1, 1, 2, 3]), random.randint(6, 21)
    load = (km - 120) / 70 + 1.3 * rural - (vans - 20) / 12 + .25 * (hour - 13) / 4 + .1 * pieces + random.gauss(0, .5)
    return [k, f"{kg:.2f}", pieces, hour, int(load > .35)]


for name, n in (("parcels_2022.csv", 4000), ("parcels_2023.csv", 1200)):
    with open(name, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["depot", "weight_kg", "pieces", "drop_hour", "late"])
        for _ in range(n):
            w.writerow(parcel())
