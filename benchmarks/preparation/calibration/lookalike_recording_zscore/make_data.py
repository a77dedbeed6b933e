import numpy as np

rng = np.random.default_rng(44)


def part(n):
    X, y, gain = [], [], []
    t = np.arange(128) / 32
    for _ in range(n):
        k = rng.integers(3)
        f = (.8, 1.9, 3.2)[k] * rng.normal(1, .08)
        s = np.sin(2 * np.pi * f * t + rng.uniform(0, 6)) + .4 * np.sin(4 * np.pi * f * t + rng.uniform(0, 6)) + rng.normal(0, .7, 128)
        X.append(rng.lognormal(0, 1.2) * s + rng.normal(0, 20))
        y.append(k)
    return np.array(X, "float32"), np.array(y)


a, b = part(1500), part(500)
np.savez_compressed("wrist.npz", train_signal=a[0], train_activity=a[1], test_signal=b[0], test_activity=b[1])
