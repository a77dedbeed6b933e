import os
import sqlite3
from datetime import datetime, timedelta
import numpy as np

rng = np.random.default_rng(77)
if os.path.exists("plant.db"):
    os.remove("plant.db")
con = sqlite3.connect("plant.db")
con.execute("CREATE TABLE batches (batch_id INTEGER PRIMARY KEY, line TEXT, started_at TEXT, temp REAL, ph REAL, stir REAL, feed REAL, minutes REAL)")
con.execute("CREATE TABLE quality (batch_id INTEGER PRIMARY KEY, lab TEXT, grade TEXT)")
t = datetime(2023, 1, 2, 6)
nxt = {"A": 1000, "B": 4000, "C": 7000}
for _ in range(1800):
    t += timedelta(minutes=int(rng.integers(15, 120)))
    line = str(rng.choice(["A", "B", "C"]))
    nxt[line] += int(rng.integers(1, 3))
    temp, ph, stir, feed, mins = rng.normal(72, 3), rng.normal(6.4, .3), rng.normal(200, 25), rng.normal(14, 2), rng.normal(95, 12)
    z = .9 * (temp - 72) / 3 - 1.1 * (ph - 6.4) / .3 + .7 * (mins - 95) / 12 + .5 * ((temp - 72) / 3) * ((ph - 6.4) / .3) + rng.normal(0, .35)
    grade = "I" if z > .6 else ("II" if z > -.6 else "III")
    con.execute("INSERT INTO batches VALUES (?,?,?,?,?,?,?,?)", (nxt[line], line, t.isoformat(), *(round(float(v), 3) for v in (temp, ph, stir, feed, mins))))
    con.execute("INSERT INTO quality VALUES (?,?,?)", (nxt[line], str(rng.choice(["L1", "L2"])), grade))
con.commit()
con.close()
