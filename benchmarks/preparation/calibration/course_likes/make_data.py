import sqlite3
import numpy as np

rng = np.random.default_rng(12)
U, I = 1500, 220
ut, it = rng.normal(0, 1, (U, 3)), rng.normal(0, 1, (I, 3))
ub, ib = rng.normal(0, 0.5, U), rng.normal(0, 0.6, I)
rows, t = [], 1.68e9
for u in range(U):
    n = 2 + rng.poisson(3.5)
    for i in rng.choice(I, n, replace=False):
        z = 0.1 + ub[u] + ib[i] + 0.25 * ut[u] @ it[i]
        rows.append((u + 10001, int(i) + 1, int(rng.uniform(t, t + 1.2e7)), int(rng.random() < 1 / (1 + np.exp(-z)))))
rng.shuffle(rows)
con = sqlite3.connect("courses.db")
con.execute("DROP TABLE IF EXISTS feedback")
con.execute("CREATE TABLE feedback (learner INTEGER, course INTEGER, at INTEGER, liked INTEGER)")
con.executemany("INSERT INTO feedback VALUES (?,?,?,?)", [tuple(int(v) for v in r) for r in rows])
con.execute("DROP TABLE IF EXISTS course")
con.execute("CREATE TABLE course (id INTEGER PRIMARY KEY, topic TEXT, hours REAL)")
topics = ["maths", "music", "cooking", "coding", "history"]
con.executemany("INSERT INTO course VALUES (?,?,?)",
                [(i + 1, topics[int(np.argmax(np.append(it[i], [0.2, 0.4])))], round(float(3 + 4 * rng.random() + ib[i]), 1)) for i in range(I)])
con.commit()
con.close()
