import csv
import gzip
import numpy as np

rng = np.random.default_rng(50)
U, A = 500, 180
p, q = rng.normal(0, 1, (U, 4)), rng.normal(0, 1, (A, 4))
with gzip.open("plays.tsv.gz", "wt", newline="") as f:
    w = csv.writer(f, delimiter="\t")
    w.writerow(["listener", "artist", "week", "plays"])
    for u in range(U):
        n = int(rng.integers(10, 22))
        z = 1.4 * p[u] @ q.T + rng.gumbel(0, 1, A)
        for a in rng.permutation(np.argsort(-z)[:n]):
            w.writerow([f"u{u:04d}", f"artist {a:03d}", int(rng.integers(1, 53)), int(rng.poisson(np.exp(1 + 0.4 * p[u] @ q[a] / 2))) + 1])
