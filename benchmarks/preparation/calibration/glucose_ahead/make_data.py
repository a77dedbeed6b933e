import json
import numpy as np

rng = np.random.default_rng(5)
out = {}
for pid in range(14):
    n = 288 * 5
    g = np.zeros(n)
    base = rng.uniform(105, 140)
    g[0] = base
    v, push = 0.0, 0.0
    for i in range(1, n):
        if rng.random() < 5 / 288:
            push += rng.uniform(4, 9)
        if rng.random() < 4 / 288:
            push -= rng.uniform(3, 6)
        push *= 0.82
        v = 0.75 * v + 0.25 * push + rng.normal(0, 0.7) - 0.012 * (g[i - 1] - base)
        g[i] = np.clip(g[i - 1] + v, 45, 380)
    out[f"id{pid:02d}"] = [round(float(z), 1) for z in g + rng.normal(0, 1.5, n)]
with open("cgm.json", "w") as f:
    json.dump({"interval_minutes": 5, "series": out}, f)
