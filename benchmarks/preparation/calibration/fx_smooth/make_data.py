import numpy as np

rng = np.random.default_rng(9)
n = 5200
r = np.zeros(n)
vol = 1.0
for i in range(1, n):
    vol = 0.97 * vol + 0.03 * (0.6 + 0.8 * rng.random())
    r[i] = 0.18 * r[i - 1] + vol * rng.normal(0, 1e-3)
close = 1.12 * np.exp(np.cumsum(r))
volume = np.exp(rng.normal(6, 0.4, n) + 200 * np.abs(r))
t0 = np.datetime64("2021-01-04T00:00")
with open("fx_4h.csv", "w") as f:
    f.write("bar_open,close,volume\n")
    for i in range(n):
        f.write(f"{t0 + np.timedelta64(4 * i, 'h')},{close[i]:.6f},{volume[i]:.0f}\n")
