import numpy as np
import pandas as pd

rng = np.random.default_rng(83)
n = 4200
income = rng.normal(0, 1, n)
stated = rng.random(n) < 1 / (1 + np.exp(-1.6 * income))
months = rng.integers(0, 90, n)
late = rng.poisson(np.exp(0.2 - 0.5 * income))
contact = rng.integers(0, 400, n)
never = rng.random(n) < 0.55
job = rng.choice(["office", "trade", "care", "farm"], n).astype(object)
job[rng.random(n) < 0.15 + 0.25 * (income < 0)] = None
util = np.clip(rng.normal(0.5 - 0.1 * income, 0.25, n), 0, 1.3)
z = -1.2 - 1.1 * income + 0.35 * late + 1.2 * util - 0.006 * months + 0.7 * (~never) * np.exp(-contact / 90)
y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
pd.DataFrame(dict(
    stated_income=np.where(stated, (np.exp(10 + 0.35 * income)).round(-2), -999), job=job, months_customer=months,
    days_since_contact=np.where(never, -1, contact), late_payments=late, utilisation=util.round(3), defaulted=y,
)).to_csv("loans.csv", index=False)
