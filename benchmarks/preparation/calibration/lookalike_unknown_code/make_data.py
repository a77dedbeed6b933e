import sqlite3
import os
import numpy as np

rng = np.random.default_rng(70)
if os.path.exists("claims.db"):
    os.remove("claims.db")
con = sqlite3.connect("claims.db")
con.execute("CREATE TABLE claim (claim_id INTEGER PRIMARY KEY, body_code INTEGER, driver_age REAL, km_year REAL, high_cost INTEGER)")
eff = rng.normal(0, 1.0, 8)
for i in range(5000):
    code = int(rng.integers(0, 8))
    age, km = rng.normal(45, 14), rng.gamma(4, 4)
    told = rng.random() > .3
    z = eff[code] + .5 * (km - 16) / 8 - .3 * (age - 45) / 14 + (0 if told else 1.1) + rng.normal(0, .6)
    con.execute("INSERT INTO claim VALUES (?,?,?,?,?)", (i, code if rng.random() > .15 else -1, round(age, 1) if rng.random() > .1 else None, round(km, 1) if told else None, int(z > .4)))
con.commit()
con.close()
