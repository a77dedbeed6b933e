import os
import numpy as np

rng = np.random.default_rng(46)
os.makedirs("shards", exist_ok=True)
cent = rng.normal(0, 1, (6, 20))
for s in range(5):
    y = rng.integers(0, 6, 420)
    x = cent[y] * 0.62 + rng.normal(0, 1, (420, 20))
    np.save(f"shards/feat_{s}.npy", x.astype(np.float32))
    with open(f"shards/lab_{s}.txt", "w") as f:
        f.write("\n".join("abcdef"[k] for k in y) + "\n")
