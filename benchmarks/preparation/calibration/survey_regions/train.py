import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from torch import nn

REGIONS = ["AP", "EU", "NA", "SA"]
NUMERIC = ["age", "price_score", "service_score", "visits"]

torch.manual_seed(0)


def load_survey(path="survey.csv"):
    df = pd.read_csv(path)
    n = len(df)
    df = df.dropna().reset_index(drop=True)
    print(f"{n} answers, {len(df)} complete")
    return df


class SurveyEncoder:
    def fit(self, df):
        self.mean = df[NUMERIC].mean()
        self.std = df[NUMERIC].std()
        return self

    def __call__(self, df):
        num = torch.tensor(((df[NUMERIC] - self.mean) / self.std).to_numpy(), dtype=torch.float32)
        reg = torch.tensor([REGIONS.index(r) for r in df["region"]])
        return torch.cat([num, nn.functional.one_hot(reg, len(REGIONS)).float()], dim=1)


df = load_survey()
# every sixth respondent is kept for the test
test_mask = df["respondent"] % 6 == 0
fit_df, test_df = df[~test_mask], df[test_mask]
train_df, val_df = train_test_split(fit_df, test_size=0.15, random_state=1)

enc = SurveyEncoder().fit(train_df)
data = {k: (enc(d), torch.tensor(d["would_renew"].to_numpy())) for k, d in
        {"train": train_df, "val": val_df, "test": test_df}.items()}

net = nn.Sequential(nn.Linear(len(NUMERIC) + len(REGIONS), 48), nn.LeakyReLU(), nn.Linear(48, 24), nn.LeakyReLU(), nn.Linear(24, 2))
optimiser = torch.optim.Adam(net.parameters(), lr=2e-3)


def accuracy(part):
    x, t = data[part]
    with torch.no_grad():
        return (net(x).argmax(1) == t).float().mean().item()


x, t = data["train"]
for epoch in range(1, 26):
    for rows in torch.randperm(len(x)).split(48):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(net(x[rows]), t[rows])
        loss.backward()
        optimiser.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}: loss {loss.item():.3f}, val accuracy {accuracy('val'):.3f}")
print(f"test accuracy {accuracy('test'):.3f} on {len(data['test'][1])} respondents")
