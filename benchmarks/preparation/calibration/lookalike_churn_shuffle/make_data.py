import numpy as np
import pandas as pd

rng = np.random.default_rng(4)
n = 2000
months = rng.integers(1, 72, n)
bill = rng.gamma(6, 12, n)
calls = rng.poisson(1.5, n)
contract = rng.choice(["monthly", "yearly", "two years"], n, p=[.5, .3, .2])
z = 0.6 * calls - 0.05 * months + 0.02 * bill + np.where(contract == "monthly", 1.1, -0.6) - 1.2 + rng.logistic(0, .6, n)
df = pd.DataFrame({"customer": np.arange(n), "months": months, "bill": bill.round(2), "service_calls": calls, "contract": contract, "churn": np.where(z > 0, "Yes", "No")})
df.sort_values("churn").to_csv("churn.csv", index=False)
