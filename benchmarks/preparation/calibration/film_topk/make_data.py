import numpy as np

rng = np.random.default_rng(66)
U, I, K = 420, 260, 6
pu, qi = rng.normal(0, 1, (U, K)), rng.normal(0, 1, (I, K))
pop = rng.normal(0, 0.8, I)
lines = []
for u in range(U):
    n = int(rng.integers(14, 34))
    z = 1.5 * pu[u] @ qi.T + pop + rng.gumbel(0, 1, I)
    seen = rng.permutation(np.argsort(-z)[:n])
    t = int(rng.integers(9.6e8, 9.8e8))
    for i in seen:
        t += int(rng.integers(30, 90000))
        lines.append(f"{u + 1}::{i * 3 + 11}::{int(rng.integers(3, 6))}::{t}")
rng.shuffle(lines)
open("ratings.dat", "w").write("\n".join(lines) + "\n")
