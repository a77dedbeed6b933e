import os
import sqlite3
import numpy as np

rng = np.random.default_rng(93)
if os.path.exists("warehouse.db"):
    os.remove("warehouse.db")
con = sqlite3.connect("warehouse.db")
con.execute("CREATE TABLE orders (order_id INTEGER PRIMARY KEY, km REAL, hours REAL, cooled INTEGER)")
con.execute("CREATE TABLE lines (line_id INTEGER PRIMARY KEY, order_id INTEGER, kg REAL, fragile INTEGER, stacked INTEGER, damaged INTEGER)")
line = 0
for o in range(1000):
    km, hours, cooled = rng.gamma(2, 150), rng.gamma(2, 8), int(rng.random() < 0.4)
    con.execute("INSERT INTO orders VALUES (?,?,?,?)", (o, round(km, 1), round(hours, 1), cooled))
    for _ in range(int(rng.integers(1, 7))):
        kg, fr, st = rng.gamma(2, 6), int(rng.random() < 0.3), int(rng.random() < 0.5)
        z = 1.9 * fr + 1.2 * st * (1 + fr) + (km - 300) / 180 + 0.02 * (hours - 16) - 0.6 * cooled - 1.8
        con.execute("INSERT INTO lines VALUES (?,?,?,?,?,?)",
                    (line, o, round(kg, 2), fr, st, int(rng.random() < 1 / (1 + np.exp(-1.5 * z)))))
        line += 1
con.commit()
