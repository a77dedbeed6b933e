import csv
import numpy as np

rng = np.random.default_rng(64)
n = 3000
income = np.exp(rng.normal(np.log(1500), 0.75, n))
balance = np.exp(rng.normal(np.log(900), 0.9, n))
age = rng.integers(19, 75, n)
late = rng.poisson(1.0, n)
tenure = rng.gamma(2, 30, n)
z = 1.6 * np.log(income / 1500) - 1.1 * np.log(balance / 900) - 0.35 * late + 0.004 * tenure + rng.normal(0, .7, n)
ok = (z > -0.1).astype(int)
with open("cards.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["client", "age", "monthly_income", "card_balance", "late_payments", "months_with_bank", "approved"])
    for i in range(n):
        inc = "" if rng.random() < 0.03 else f"{income[i]:,.2f}"
        w.writerow([f"C{i:05d}", age[i], inc, f"{balance[i]:,.2f}", late[i], round(tenure[i], 1), ok[i]])
