import csv
import random

random.seed(14)
makers = ["Orvin", "Teklo", "Barsa", "Kumi", "Halden"]
mats = ["steel", "brass", "nylon", "rubber"]
mat_w = {"steel": 1.6, "brass": 0.6, "nylon": -0.7, "rubber": -1.5}
catalogue = {}
with open("catalogue.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["maker", "part_no", "weight_g", "length_mm", "material"])
    for m in makers:
        for n in random.sample(range(1000, 1130), 80):
            p = (random.uniform(5, 900), random.uniform(10, 400), random.choice(mats))
            catalogue[m, str(n)] = p
            w.writerow([m, n, f"{p[0]:.0f}", f"{p[1]:.0f}", p[2]])
keys = list(catalogue)
with open("orders.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["order_id", "maker", "part_no", "qty", "express", "late"])
    for i in range(3200):
        m, n = random.choice(keys)
        wt, ln, mat = catalogue[m, n]
        q, ex = random.randint(1, 20), random.randint(0, 1)
        z = (wt - 450) / 160 + (ln - 200) / 110 + mat_w[mat] + 0.05 * (q - 10) - 0.9 * ex + random.gauss(0, 0.9)
        w.writerow([f"o{i}", m, n, q, ex, int(z > 0)])
