"""Semi-supervised node classification on a stochastic block model."""
import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn, Tensor


@dataclass
class Config:
    n_per_block: int = 120
    n_blocks: int = 5
    p_in: float = 0.08
    p_out: float = 0.008
    feat_dim: int = 24
    feat_signal: float = 0.22
    labelled_per_block: int = 12
    hidden: int = 32
    dropout: float = 0.5
    lr: float = 0.01
    weight_decay: float = 5e-4
    max_epochs: int = 300
    patience: int = 60
    seed: int = 0


@dataclass
class Graph:
    x: Tensor
    y: Tensor
    a_hat: Tensor
    train: Tensor
    val: Tensor
    test: Tensor


def sample_sbm(cfg: Config, g: torch.Generator):
    n = cfg.n_per_block * cfg.n_blocks
    y = torch.arange(cfg.n_blocks).repeat_interleave(cfg.n_per_block)
    prob = torch.where(y[:, None] == y[None, :], cfg.p_in, cfg.p_out)
    upper = torch.triu((torch.rand(n, n, generator=g) < prob).float(), diagonal=1)
    adj = upper + upper.T
    centres = torch.randn(cfg.n_blocks, cfg.feat_dim, generator=g)
    x = cfg.feat_signal * centres[y] + torch.randn(n, cfg.feat_dim, generator=g)
    return adj, x, y


def normalise(adj: Tensor) -> Tensor:
    adj = adj + torch.eye(len(adj))
    d = adj.sum(1).rsqrt()
    return (d[:, None] * adj * d[None, :]).to_sparse()


def build_graph(cfg: Config) -> Graph:
    g = torch.Generator().manual_seed(cfg.seed)
    adj, x, y = sample_sbm(cfg, g)
    # get rid of the block ordering
    perm = torch.randperm(len(y), generator=g)
    adj, x, y = adj[perm][:, perm], x[perm], y[perm]

    train = torch.zeros(len(y), dtype=torch.bool)
    for c in range(cfg.n_blocks):
        train[(y == c).nonzero().flatten()[: cfg.labelled_per_block]] = True
    rest = (~train).nonzero().flatten()
    val, test = torch.zeros_like(train), torch.zeros_like(train)
    val[rest[:150]] = True
    test[rest[150:]] = True
    return Graph(x, y, normalise(adj), train, val, test)


class GraphConv(nn.Module):
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_in, d_out))
        self.bias = nn.Parameter(torch.zeros(d_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, a_hat: Tensor, h: Tensor) -> Tensor:
        return torch.sparse.mm(a_hat, h @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.c1 = GraphConv(cfg.feat_dim, cfg.hidden)
        self.c2 = GraphConv(cfg.hidden, cfg.n_blocks)
        self.p = cfg.dropout

    def forward(self, a_hat: Tensor, x: Tensor) -> Tensor:
        h = F.dropout(x, self.p, self.training)
        h = F.relu(self.c1(a_hat, h))
        h = F.dropout(h, self.p, self.training)
        return self.c2(a_hat, h)


@torch.no_grad()
def evaluate(model: GCN, gr: Graph):
    model.eval()
    logits = model(gr.a_hat, gr.x)
    accs = [(logits[m].argmax(1) == gr.y[m]).float().mean().item() for m in (gr.train, gr.val, gr.test)]
    return F.cross_entropy(logits[gr.val], gr.y[gr.val]).item(), accs


def run(cfg: Config) -> float:
    torch.manual_seed(cfg.seed)
    gr = build_graph(cfg)
    print(f"{len(gr.y)} nodes, {gr.a_hat._nnz()} non-zeros, {int(gr.train.sum())} labelled nodes")
    model = GCN(cfg)
    opt = torch.optim.Adam([
        {"params": model.c1.parameters(), "weight_decay": cfg.weight_decay},
        {"params": model.c2.parameters(), "weight_decay": 0.0},
    ], lr=cfg.lr)

    best, best_state, wait = float("inf"), None, 0
    for epoch in range(cfg.max_epochs):
        model.train()
        opt.zero_grad()
        logits = model(gr.a_hat, gr.x)
        loss = F.cross_entropy(logits[gr.train], gr.y[gr.train])
        loss.backward()
        opt.step()

        val_loss, accs = evaluate(model, gr)
        if val_loss < best:
            best, best_state, wait = val_loss, copy.deepcopy(model.state_dict()), 0
        else:
            wait += 1
            if wait >= cfg.patience:
                print(f"stopping at epoch {epoch}")
                break
        if epoch % 20 == 0:
            print(f"{epoch:4d} loss {loss.item():.4f} val loss {val_loss:.4f} "
                  f"acc train/val/test {accs[0]:.3f}/{accs[1]:.3f}/{accs[2]:.3f}")

    model.load_state_dict(best_state)
    return evaluate(model, gr)[1][2]


if __name__ == "__main__":
    print(f"test accuracy {run(Config()):.4f}")
