import os
import sqlite3
import numpy as np

rng = np.random.default_rng(23)
if os.path.exists("shops.db"):
    os.remove("shops.db")
n_shop = 60
ids = rng.choice(np.arange(1, 1400), n_shop, replace=False)
size = rng.gamma(6, 60, n_shop)
kind = rng.choice(["corner", "mall", "station"], n_shop)
comp = rng.integers(0, 6, n_shop)
con = sqlite3.connect("shops.db")
con.execute("CREATE TABLE shops (shop_no INTEGER, floor_m2 REAL, kind TEXT, competitors INTEGER)")
con.executemany("INSERT INTO shops VALUES (?,?,?,?)", [(int(a), round(float(b), 1), str(k), int(c)) for a, b, k, c in zip(ids, size, kind, comp)])
con.execute("CREATE TABLE receipts (shop TEXT, day TEXT, weekday INTEGER, promo INTEGER, rain_mm REAL, turnover REAL)")
kf = {"corner": 0.8, "mall": 1.5, "station": 1.1}
rows = []
for a, b, k, c in zip(ids, size, kind, comp):
    for d in range(50):
        wd, promo, rain = d % 7, int(rng.random() < .3), max(0.0, rng.normal(1, 3))
        t = b * 6 * kf[k] * (1 - 0.09 * c) * (1 + .25 * promo) * (1.3 if wd >= 5 else 1) * (1 - .01 * rain) * np.exp(rng.normal(0, .08))
        rows.append((f"{a:04d}", f"2023-{3 + d // 30:02d}-{d % 30 + 1:02d}", wd, promo, round(rain, 1), round(float(t), 2)))
rng.shuffle(rows)
con.executemany("INSERT INTO receipts VALUES (?,?,?,?,?,?)", [(r[0], r[1], int(r[2]), int(r[3]), float(r[4]), float(r[5])) for r in rows])
con.commit()
con.close()
