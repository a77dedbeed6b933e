import os
import sqlite3
import numpy as np

rng = np.random.default_rng(3)
if os.path.exists("crm.sqlite"):
    os.remove("crm.sqlite")
con = sqlite3.connect("crm.sqlite")
con.executescript("""
CREATE TABLE customer (id INTEGER PRIMARY KEY, joined INTEGER, monthly REAL, gb REAL, left_2024 INTEGER);
CREATE TABLE ticket (id INTEGER PRIMARY KEY, customer_id INTEGER, year INTEGER, minutes REAL, topic TEXT);
""")
tid = 0
for cid in range(1, 3601):
    joined, monthly, gb = int(rng.integers(2012, 2023)), rng.normal(32, 8), rng.gamma(2, 6)
    talker = rng.random() < .45
    years = []
    if talker:
        years += [2023] * int(rng.integers(1, 6))
    if rng.random() < .3:
        years += [int(rng.integers(2019, 2023))] * int(rng.integers(1, 3))
    total = 0.0
    for y in years:
        m = float(rng.gamma(2, 6))
        total += m if y == 2023 else 0
        tid += 1
        con.execute("INSERT INTO ticket VALUES (?,?,?,?,?)", (tid, cid, y, round(m, 1), str(rng.choice(["bill", "line", "router"]))))
    if talker:
        z = (total - 35) / 15 + .8 * (monthly - 32) / 8 + rng.normal(0, .6)
    else:
        z = -1.6 * (monthly - 32) / 8 - 1.4 * (gb - 12) / 8 + rng.normal(0, .6)
    con.execute("INSERT INTO customer VALUES (?,?,?,?,?)", (cid, joined, round(monthly, 2), round(gb, 2), int(z > 0)))
con.commit()
