import numpy as np

rng = np.random.default_rng(23)
n, d = 2600, 10
y = (rng.random(n) < .05).astype(int)
X = rng.normal(0, 1, (n, d))
X[y == 1, 0] += 1.3
X[y == 1, 1] -= 1.0
amount = np.exp(3.4 + .3 * X[:, 0] + rng.normal(0, .7, n))
head = ["hour"] + [f"pc{i}" for i in range(1, d + 1)] + ["amount", "fraud"]
hour = rng.integers(0, 24, n)
with open("card_payments.csv", "w") as f:
    f.write(",".join(head) + "\n")
    for i in range(n):
        f.write(f"{hour[i]}," + ",".join(f"{v:.4f}" for v in X[i]) + f",{amount[i]:.2f},{y[i]}\n")
