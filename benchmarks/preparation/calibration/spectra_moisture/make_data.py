import os
import numpy as np

rng = np.random.default_rng(11)
n, bands = 640, 48
os.makedirs("spectra", exist_ok=True)
wl = np.linspace(0, 1, bands)
moist = rng.uniform(8, 32, n)
rows = []
for i in range(n):
    depth = 0.02 * moist[i]
    s = 1.0 - depth * np.exp(-((wl - 0.62) / 0.08) ** 2) - 0.4 * np.exp(-((wl - 0.3) / 0.05) ** 2)
    s += rng.normal(0, 0.04) * wl + rng.normal(0, 0.008, bands)
    with open(f"spectra/sample_{i + 1}.txt", "w") as f:
        f.write("\n".join(f"{v:.5f}" for v in s))
    rows.append(f"{i + 1},{rng.choice(['north', 'south', 'east'])},{moist[i]:.2f}")
with open("moisture.csv", "w") as f:
    f.write("sample,field,moisture_pct\n" + "\n".join(rows) + "\n")
