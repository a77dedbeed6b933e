# DeepSurv-like proportional hazards model, full-batch Rprop.
#
# The partial likelihood compares every subject with everyone still at risk, so it is only exact on
# the full data set -> no minibatches, and Rprop (which hates minibatch noise) is a perfect match.
# Only differences of the risk score matter, hence no bias in the last layer.
import copy
import numpy as np
import torch

rng = np.random.default_rng(42)
torch.manual_seed(42)

def simulate(n, p=8):
    x = rng.normal(size=(n, p)).astype("float32")
    risk = 1.6 * np.tanh(x[:, 0] * x[:, 1]) + 0.8 * x[:, 2] - 0.9 * np.abs(x[:, 3])
    t_event = rng.exponential(1.0, n) / np.exp(risk) * 24      # months
    t_cens = rng.uniform(6, 90, n)
    time = np.minimum(t_event, t_cens)
    event = (t_event <= t_cens)
    return torch.from_numpy(x), torch.from_numpy(time.astype("float32")), torch.from_numpy(event), risk

def sort_by_time(x, time, event):
    """longest follow-up first, so that the risk set of row i is rows 0..i"""
    o = torch.argsort(time, descending=True)
    return x[o], time[o], event[o]

def neg_partial_loglik(score, event):
    # rows must already be sorted; times are continuous so there are no ties
    log_risk_set = torch.logcumsumexp(score, dim=0)
    return -(score - log_risk_set)[event].mean()

def c_index(score, time, event):
    s, t, e = score.detach(), time, event
    comparable = (t[:, None] < t[None, :]) & e[:, None]
    conc = (s[:, None] > s[None, :]).float() + 0.5 * (s[:, None] == s[None, :]).float()
    return (conc * comparable).sum().item() / comparable.sum().item()

xtr, ttr, etr = sort_by_time(*simulate(1500)[:3])
xva, tva, eva = sort_by_time(*simulate(600)[:3])
xte_, tte_, ete_, risk_te = simulate(800)
print(f"events: train {etr.float().mean():.2f} val {eva.float().mean():.2f}")

def fit(net, iters, label, every):
    opt = torch.optim.Rprop(net.parameters(), lr=1e-3, step_sizes=(1e-6, 0.05))
    best, best_state, best_it = float("inf"), None, -1
    for it in range(iters):
        net.train()
        opt.zero_grad()
        loss = neg_partial_loglik(net(xtr).squeeze(-1), etr)
        loss = loss + 1e-3 * sum((p ** 2).sum() for n, p in net.named_parameters() if n.endswith("weight"))
        loss.backward()
        opt.step()

        net.eval()
        with torch.no_grad():
            sva = net(xva).squeeze(-1)
            v = neg_partial_loglik(sva, eva).item()
        if v < best:
            best, best_state, best_it = v, copy.deepcopy(net.state_dict()), it
        if it % every == 0:
            print(f"  {label} it {it:3d} train {loss.item():.4f} val {v:.4f} val C {c_index(sva, tva, eva):.3f}")
        if it - best_it > 40:
            print(f"  {label} stop at {it}, back to {best_it}")
            break
    net.load_state_dict(best_state)
    net.eval()
    with torch.no_grad():
        return c_index(net(xte_).squeeze(-1), tte_, ete_)

linear = torch.nn.Linear(8, 1, bias=False)
torch.nn.init.zeros_(linear.weight)
c_lin = fit(linear, 100, "linear", 25)

net = torch.nn.Sequential(
    torch.nn.Linear(8, 24), torch.nn.Tanh(),
    torch.nn.Linear(24, 12), torch.nn.Tanh(),
    torch.nn.Linear(12, 1, bias=False),
)
c_net = fit(net, 250, "deep", 20)
c_oracle = c_index(torch.from_numpy(risk_te), tte_, ete_)
print(f"test C-index: chance 0.500  linear Cox {c_lin:.3f}  deep {c_net:.3f}  true risk {c_oracle:.3f}")
