"""Attention that sums to one over the samples, in several styles; and what is normalised over its first axis on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

from netmend.localise import diagnose

PROGRAM = """
B, T, C = 16, 9, 12
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(30, C)
        self.q, self.k = nn.Linear(C, C), nn.Linear(C, C)
        self.norm = {norm}
        self.out = nn.Linear(C, 2)
    def scores(self, ids):
        h = self.e(ids)
        {body}
    def step(self, ids, y):
        optimizer.zero_grad()
        loss = F.cross_entropy({call}, y)
        loss.backward()
        optimizer.step()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
rows, tags = torch.randint(30, (64, T)), torch.randint(2, (64,))
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows, tags), batch_size=B)
for epoch in range(2):
    for ids, y in loader:
        net.step(ids, y)
"""
METHOD = {"call": "self.scores(ids)", "norm": "nn.Softmax(dim=0)"}
HEADS = "q = self.q(h).view(len(h), T, 3, 4).transpose(1, 2)\n        "
FAULTY = {
    "product": ("w = torch.softmax(torch.bmm(self.q(h), self.k(h).transpose(1, 2)) / 3, dim=0)  # <- here\n        return self.out((w @ h).mean(1))", "here"),
    "masked": ("a = (self.q(h) @ self.k(h).mT).masked_fill((ids == 0)[:, None], -1e9)\n        w = F.dropout(a.softmax(0), 0.1)  # <- here\n        return self.out((w @ h).mean(1))", "here"),
    "layer": ("w = self.norm(self.q(h) @ self.k(h).mT)  # <- here\n        return self.out((w @ h).mean(1))", "here"),
    "heads": (HEADS + "w = (q @ q.mT).softmax(dim=0)  # <- here\n        return self.out((w @ q).transpose(1, 2).reshape(len(h), T, C).mean(1))", "here"),
    "sums over indices": ("w = torch.einsum('bqc,bkc->bqk', self.q(h), self.k(h)).softmax(0)  # <- here\n        return self.out((w @ h).mean(1))", "here"),
}  # fmt: skip
HEALTHY = {
    "over the keys": "w = (self.q(h) @ self.k(h).mT).softmax(-1)\n        return self.out((w @ h).mean(1))",
    "over the queries, as slots do": "w = (self.q(h) @ self.k(h).mT).softmax(-2)\n        return self.out((w @ h).mean(1))",
    "time first": "h = h.transpose(0, 1)\n        w = (self.q(h) * self.k(h)).sum(-1).softmax(0)\n        return self.out(torch.einsum('tb,tbc->bc', w, h))",
    "samples compared on purpose": "v = h.mean(1)\n        w = (self.q(v) @ self.k(v).T).softmax(0)\n        return self.out(w @ v)",
    "capsules that agree": "u = torch.stack([self.q(h), self.k(h)])\n        w = torch.matmul(u, h.mT).softmax(0)\n        return self.out((w @ h).sum(0).mean(1))",
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_weights_that_sum_to_one_over_the_samples(tmp_path: Path, name: str) -> None:
    body, mark = FAULTY[name]
    found = record(tmp_path, PROGRAM.format(body=body, **METHOD))
    (fault,) = [fault for fault in diagnose(found.trace).faults if fault.cause == "ACT-DIM"]
    assert found.at(mark, fault.site)


@pytest.mark.parametrize("name", HEALTHY)
def test_weights_that_are_meant_so(tmp_path: Path, name: str) -> None:
    found = record(tmp_path, PROGRAM.format(body=HEALTHY[name], **METHOD))
    assert "ACT-DIM" not in [fault.cause for fault in diagnose(found.trace).faults]


def test_it_is_told_once_where_the_model_is_called(tmp_path: Path) -> None:
    call = {**METHOD, "call": "self(ids)"}
    program = PROGRAM.format(body=FAULTY["product"][0], **call).replace("def scores", "def forward")
    found = record(tmp_path, program)
    faults = [fault for fault in diagnose(found.trace).faults if fault.cause == "ACT-DIM"]
    assert len(faults) == 1 and found.at("here", faults[0].site)
