import csv
import numpy as np

rng = np.random.default_rng(55)


def write(path, first, n_dev):
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["device", "step", "pressure", "flow", "zero_offset", "valve_leaking"])
        for d in range(first, first + n_dev):
            has = rng.random() < .45
            off = rng.normal(0, 1.4) if has else 0.0
            for step in range(12):
                p, q = rng.normal(0, 1), rng.normal(0, 1)
                leak = int(p - .7 * q + rng.normal(0, .15) > 0)
                w.writerow([f"D{d:04d}", step, round(20 + p + off, 3), round(5 + q, 3), round(off, 3) if has and step == 0 else "", leak])


write("bench.csv", 1, 260)
write("field.csv", 2001, 90)
