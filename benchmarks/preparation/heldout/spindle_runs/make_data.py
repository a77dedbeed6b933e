import os
import numpy as np

rng = np.random.default_rng(11)
os.makedirs("runs", exist_ok=True)
stages = []
for n in range(1, 301):
    stage = int(rng.integers(0, 3))
    t = np.arange(64) / 64.0
    base = 4 + 3 * stage
    wave = [np.sin(2 * np.pi * base * t + rng.uniform(0, 6.28)) * rng.uniform(0.7, 1.2) for _ in range(3)]
    sig = np.stack(wave, 1) + rng.normal(0, 0.7, (64, 3))
    with open(f"runs/run_{n}.csv", "w") as f:
        f.write("ax,ay,az\n")
        for row in sig:
            f.write(",".join(f"{v:.3f}" for v in row) + "\n")
    stages.append(stage)
with open("wear_stage.txt", "w") as f:
    f.write("\n".join(map(str, stages)) + "\n")
