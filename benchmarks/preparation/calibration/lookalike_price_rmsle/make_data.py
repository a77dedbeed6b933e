import numpy as np

rng = np.random.default_rng(38)
n = 3200
area = np.exp(rng.normal(4.4, 0.4, n))
rooms = np.clip((area / 28 + rng.normal(0, 0.8, n)).round(), 1, 9)
year = rng.integers(1900, 2022, n)
dist = rng.gamma(2, 2.4, n)
kind = rng.choice(["flat", "terrace", "detached", "studio"], n, p=[0.5, 0.22, 0.2, 0.08])
mult = np.array([{"flat": 0.0, "terrace": 0.12, "detached": 0.35, "studio": -0.1}[k] for k in kind])
price = np.exp(8.1 + 0.85 * np.log(area) + mult - 0.07 * dist + 0.002 * (year - 1960) + rng.normal(0, 0.16, n))
with open("listings.csv", "w", encoding="latin-1") as f:
    f.write("ref|type|area_m2|rooms|built|km_centre|price\n")
    for i in range(n):
        f.write(f"L{i * 13 % 99991:05d}|{kind[i]}|{area[i]:.0f}|{rooms[i]:.0f}|{year[i]}|{dist[i]:.1f}|{price[i]:.0f}\n")
