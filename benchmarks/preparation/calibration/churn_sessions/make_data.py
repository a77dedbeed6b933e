import csv
import numpy as np

rng = np.random.default_rng(21)
users = [f"u{int(k):06d}" for k in rng.choice(10**6, 1500, replace=False)]
events, labels = [], []
for u in users:
    lively = rng.normal()
    k = rng.integers(4, 14)
    for _ in range(k):
        events.append([u, int(rng.integers(0, 90)), round(float(np.exp(1.6 + .55 * lively + rng.normal(0, .5))), 2), int(rng.poisson(np.exp(.8 + .4 * lively))), int(rng.random() < .25 - .08 * np.tanh(lively))])
    labels.append([u, rng.choice(["basic", "plus"]), int(rng.random() < 1 / (1 + np.exp(3.5 * lively)))])
order = rng.permutation(len(events))
with open("sessions.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["user_id", "day", "minutes", "clicks", "error"])
    w.writerows([events[i] for i in order])
with open("users.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["user_id", "plan", "churned"])
    w.writerows(labels)
