import sqlite3, os
import numpy as np

rng = np.random.default_rng(15)
if os.path.exists("ratings.db"):
    os.remove("ratings.db")
nu, ni, k = 200, 120, 3
U, V = rng.normal(0, .6, (nu, k)), rng.normal(0, .6, (ni, k))
bu, bi = rng.normal(0, .4, nu), rng.normal(0, .5, ni)
con = sqlite3.connect("ratings.db")
con.execute("CREATE TABLE ratings (user INTEGER, book INTEGER, stars REAL, PRIMARY KEY (user, book))")
for u in range(nu):
    for b in rng.choice(ni, 40, replace=False):
        r = 3.4 + bu[u] + bi[b] + U[u] @ V[b] + rng.normal(0, .4)
        con.execute("INSERT INTO ratings VALUES (?,?,?)", (u + 1000, int(b) + 1, float(np.clip(round(r * 2) / 2, .5, 5))))
con.commit()
con.close()
