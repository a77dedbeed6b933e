import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, n_in, n_out, hidden, dropout):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.head = nn.Sequential(nn.Linear(hidden, n_out), nn.Softmax(dim=-1))

    def forward(self, x):
        return self.head(self.body(x))
