"""Programs in which a NaN or an infinity appears, and what must be said about it."""

from __future__ import annotations

from dataclasses import dataclass

LOOP = """
{data}
{classes}
net = {net}
optimizer = torch.optim.SGD(net.parameters(), lr={rate})
for step in range({steps}):
    optimizer.zero_grad()
    {loss}
    loss.backward()
    optimizer.step()  # <- step
"""


@dataclass(frozen=True)
class Case:
    """A program that goes wrong, and what must be said about it. The guilty line ends in `# <- here`."""

    name: str
    operation: tuple[str, ...]  # any of these names
    phase: str
    component: str
    net: str = "Net()"
    forward: str = ""  # body of Net.forward, after x = self.first(x)
    loss: str = "loss = F.mse_loss(net(x), y)"
    data: str = "x, y = torch.randn(6, 4), torch.randn(6, 3)"
    rate: float = 0.1
    what: str = "loss"
    mark: str = "here"
    steps: int = 3

    @property
    def program(self) -> str:
        body = "\n        ".join(self.forward.splitlines())
        classes = (
            "class Inner(nn.Module):\n    def forward(self, x):\n        return x.log()  # <- inner\n"
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.first = nn.Linear(4, 8)\n        self.inner = Inner()\n        self.last = nn.Linear(8, 3)\n"
            f"    def forward(self, x):\n        x = self.first(x)\n        {body}\n        return self.last(x)\n"
        )
        return LOOP.format(
            data=self.data,
            classes=classes if self.net == "Net()" else "",
            net=self.net,
            rate=self.rate,
            loss=self.loss,
            steps=self.steps,
        )


CASES = [
    Case("log of zero", ("log",), "forward", "net", forward="x = x.relu().log()  # <- here"),
    Case(
        "log in a child", ("log",), "forward", "net.inner", forward="x = self.inner(x.relu())", mark="inner"
    ),
    Case("log in place", ("log",), "forward", "net", forward="x = (x * 0).log_()  # <- here"),
    Case("division by zero", ("div",), "forward", "net", forward="x = x / (x - x.detach())  # <- here"),
    Case("exponential overflows", ("exp",), "forward", "net", forward="x = torch.exp(x * 1000)  # <- here"),
    Case("power overflows", ("pow",), "forward", "net", forward="x = (x * 1e6) ** 8  # <- here"),
    Case(
        "attention row that is masked out",
        ("_softmax", "softmax"),
        "forward",
        "net",
        forward="scores = x @ x.T\nmask = torch.zeros(6, 6, dtype=torch.bool)\nmask[2] = True\n"
        "scores = scores.masked_fill(mask, float('-inf'))\nx = scores.softmax(-1) @ x  # <- here",
    ),
    Case(
        "variance of one value",
        ("var", "std"),
        "forward",
        "net",
        forward="x = x / x[:1].std(dim=0)  # <- here",
    ),
    Case(
        "NaN in the data",
        ("the input of the model",),
        "data",
        "input",
        net="nn.Linear(4, 3)",
        data="x, y = torch.randn(6, 4), torch.randn(6, 3)\nx[2, 1] = float('nan')",
        mark="",
    ),
    Case(
        "NaN in the targets",
        ("the target of the loss",),
        "data",
        "target",
        net="nn.Linear(4, 3)",
        data="x, y = torch.randn(6, 4), torch.randn(6, 3)\ny[2, 1] = float('nan')",
        mark="",
    ),
    Case(
        "square root at zero, backward",
        ("sqrt",),
        "backward",
        "net",
        forward="x = (x - x.detach()).square().sqrt()  # <- here",
        what="gradient",
    ),
    Case(
        "arc cosine at one, backward",
        ("acos",),
        "backward",
        "net",
        forward="x = torch.acos(x / x.detach())  # <- here",
        what="gradient",
    ),
    Case(
        "where does not protect the backward pass",
        ("sqrt",),
        "backward",
        "net",
        forward="x = torch.where(x > 0, x.sqrt(), torch.zeros_like(x))  # <- here",
        what="gradient",
    ),
    Case(
        "power below one at zero, backward",
        ("pow",),
        "backward",
        "net",
        forward="x = (x - x.detach()) ** 0.5  # <- here",
        what="gradient",
    ),
    Case(
        "0/0 in a hand-written loss",
        ("div",),
        "forward",
        "loss",
        net="nn.Linear(4, 3)",
        loss="loss = ((net(x) - y).square().sum() * 0) / (y * 0).sum()  # <- here",
    ),
    Case(
        "log of zero in a hand-written loss",
        ("log",),
        "forward",
        "loss",
        net="nn.Sequential(nn.Linear(4, 3), nn.ReLU())",
        loss="loss = -(y * net(x).log()).mean()  # <- here",
    ),
    Case(
        "norm at zero in the loss, backward",
        ("norm", "linalg_vector_norm", "sqrt"),
        "backward",
        "loss",
        net="nn.Linear(4, 3)",
        loss="out = net(x); loss = (out - out.detach()).square().sum(1).sqrt().mean()  # <- here",
        what="gradient",
    ),
    Case(
        "mean over nothing",
        ("mean",),
        "forward",
        "loss",
        net="nn.Linear(4, 3)",
        loss="loss = net(x)[y > 100].mean()  # <- here",
    ),
    Case(
        "cross entropy whose labels are all ignored",
        ("cross_entropy", "nll_loss_forward", "nllloss", "nll_loss"),
        "forward",
        "loss",
        net="nn.Linear(4, 3)",
        data="x, y = torch.randn(6, 4), torch.full((6,), -100)",
        loss="loss = F.cross_entropy(net(x), y)  # <- here",
    ),
    Case(
        "rate far too high",
        ("addmm",),
        "forward",
        "net",
        net="nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))",
        loss="loss = F.mse_loss(net(x), y)  # <- here",
        rate=1e30,
        steps=6,
    ),
    Case(
        "update that overflows",
        ("the optimiser step before",),
        "update",
        "net",
        net="nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))",
        data="x, y = torch.randn(6, 4) * 1e4, torch.randn(6, 3)",
        rate=1e38,
        mark="step",
        steps=6,
    ),
]
