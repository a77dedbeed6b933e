import csv
import numpy as np

rng = np.random.default_rng(44)
brands = ["Alto", "Brix", "Corvo", "Dune", "Elba", "Fino", "Gala", "Hexa", "Ikon", "Juno"]
fuels = ["petrol", "diesel", "hybrid", "electric"]
bodies = ["wagon", "hatch", "suv", "van", "coupe"]
bv = dict(zip(brands, rng.permutation(np.linspace(-6, 6, 10))))
fv = dict(zip(fuels, [-1.5, -0.5, 1.0, 2.5]))
ov = dict(zip(bodies, [0.0, -1.5, 2.0, -0.5, 1.2]))
for name, n in (("cars_train.csv", 2500), ("cars_test.csv", 600)):
    with open(name, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["brand", "fuel", "body", "year", "km", "price_k"])
        for _ in range(n):
            b, fu, bo = rng.choice(brands), rng.choice(fuels), rng.choice(bodies)
            yr, km = int(rng.integers(2005, 2022)), rng.gamma(3, 35000)
            price = 16 + bv[b] + fv[fu] + ov[bo] + 0.6 * (yr - 2013) - km / 25000 + rng.normal(0, 0.8)
            w.writerow([b, fu, bo, yr, f"{km:.0f}", f"{max(price, 0.4):.2f}"])
