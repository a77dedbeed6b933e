import numpy as np
from datetime import date, timedelta

rng = np.random.default_rng(3)
stores = [f"S{n:03d}" for n in rng.choice(900, 45, replace=False) + 100]
level = np.exp(rng.normal(4.4, 0.75, 45))
week = 1 + 0.35 * rng.normal(size=(45, 7))
week = np.clip(week, 0.3, 2.0)
drift = np.zeros(45)
with open("daily_sales.csv", "w") as f:
    f.write("date,store,promo,holiday,units\n")
    for d in range(170):
        day = date(2023, 1, 2) + timedelta(days=d)
        drift += rng.normal(0, 0.02, 45)
        hol = int(rng.random() < 0.03)
        for s in range(45):
            promo = int(rng.random() < 0.15)
            m = level[s] * week[s, day.weekday()] * np.exp(drift[s]) * (1 + 0.4 * promo) * (1 - 0.3 * hol)
            f.write(f"{day.isoformat()},{stores[s]},{promo},{hol},{rng.poisson(m)}\n")
