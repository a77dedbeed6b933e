import numpy as np

rng = np.random.default_rng(21)
n = 12 * 24 * 40
inflow = np.zeros(n)
x, target = 0.0, 0.0
for i in range(n):
    if rng.random() < 1 / 9:
        target = rng.normal(0, 1.0)
    x += 0.45 * (target - x) + rng.normal(0, 0.12)
    inflow[i] = x
tod = np.arange(n) % 288 / 288
flow = 60 + 14 * np.sin(2 * np.pi * (tod - 0.3)) + 11 * inflow
pressure = 4.2 - 0.012 * flow + rng.normal(0, 0.05, n)
turb = np.abs(1.1 + 0.3 * rng.normal(size=n).cumsum() / np.sqrt(n))
stamps = np.datetime64("2024-02-01T00:00") + np.arange(n) * np.timedelta64(5, "m")
with open("pump_station.csv", "w") as f:
    f.write("time;flow;pressure;turbidity\n")
    for s, a, b, c in zip(stamps, flow, pressure, turb):
        f.write(f"{str(s).replace('T', ' ')};{a:.2f};{b:.3f};{c:.3f}\n")
