import sqlite3

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.manual_seed(3)


def read():
    con = sqlite3.connect("courses.db")
    q = """SELECT f.learner, f.course, f.at, f.liked, c.topic, c.hours
           FROM feedback f JOIN course c ON c.id = f.course ORDER BY f.at, f.learner, f.course"""
    df = pd.read_sql_query(q, con)
    con.close()
    return df


def add_history(df):
    by_user = df.groupby("learner")["liked"]
    by_item = df.groupby("course")["liked"]
    df["learner_rate"] = by_user.transform("mean")
    df["course_rate"] = by_item.transform("mean")
    df["learner_n"] = np.log1p(df.groupby("learner").cumcount())
    df["course_n"] = np.log1p(df.groupby("course").cumcount())
    df[["learner_rate", "course_rate"]] = df[["learner_rate", "course_rate"]].fillna(0.5)
    return df


class LikeModel(nn.Module):
    def __init__(self, n_course, n_topic, n_num, dim=8):
        super().__init__()
        self.course = nn.Embedding(n_course, dim)
        self.topic = nn.Embedding(n_topic, 4)
        nn.init.normal_(self.course.weight, std=0.05)
        self.mlp = nn.Sequential(nn.Linear(dim + 4 + n_num, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, c, t, x):
        return self.mlp(torch.cat([self.course(c), self.topic(t), x], 1)).squeeze(1)


df = add_history(read())
NUM = ["learner_rate", "course_rate", "learner_n", "course_n", "hours"]
course = torch.tensor(df["course"].to_numpy() - 1)
topic = torch.tensor(df["topic"].astype("category").cat.codes.to_numpy().astype(np.int64))
liked = torch.tensor(df["liked"].to_numpy(), dtype=torch.float32)

# the latest fifth of the feedback is for testing
n_train = int(len(df) * 0.8)
num = df[NUM].to_numpy(np.float32)
m, s = num[:n_train].mean(0), num[:n_train].std(0)
x = torch.from_numpy((num - m) / s)
print(f"{n_train} training rows, {len(df) - n_train} test rows, {liked.mean():.2f} liked")

model = LikeModel(int(course.max()) + 1, int(topic.max()) + 1, len(NUM))
opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
bce = nn.BCEWithLogitsLoss()
for epoch in range(12):
    model.train()
    losses = []
    for b in torch.randperm(n_train).split(128):
        loss = bce(model(course[b], topic[b], x[b]), liked[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

model.eval()
with torch.no_grad():
    p = torch.sigmoid(model(course[n_train:], topic[n_train:], x[n_train:])).numpy()
print(f"test AUC {roc_auc_score(liked[n_train:].numpy(), p):.3f}")
