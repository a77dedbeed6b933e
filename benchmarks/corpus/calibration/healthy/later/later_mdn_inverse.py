# %% Mixture density network on the inverse sine problem
import math
import torch
import torch.nn as nn

torch.manual_seed(11)

# %% data: x -> t is one-to-one, t -> x is not
def sample(n):
    t = torch.rand(n, 1)
    x = t + 0.3 * torch.sin(2 * math.pi * t) + 0.05 * (2 * torch.rand(n, 1) - 1)
    return x, t          # inputs, targets

x_train, t_train = sample(800)
x_test, t_test = sample(600)

# %% hyperparameters
K = 5
hidden = 64
keep_prob = 0.95
steps = 800
lr = 5e-3

# %% network
trunk = nn.Sequential(
    nn.Linear(1, hidden), nn.Tanh(), nn.Dropout(1 - keep_prob),
    nn.Linear(hidden, hidden), nn.Tanh(), nn.Dropout(1 - keep_prob),
)
to_pi = nn.Linear(hidden, K)
to_mu = nn.Linear(hidden, K)
to_log_sigma = nn.Linear(hidden, K)
net = nn.ModuleDict(dict(trunk=trunk, pi=to_pi, mu=to_mu, ls=to_log_sigma))

with torch.no_grad():
    to_mu.bias.copy_(torch.linspace(0, 1, K))
    to_log_sigma.bias.fill_(-1.5)

def nll(x, t):
    h = trunk(x)
    log_pi = torch.log_softmax(to_pi(h), dim=1)
    mu = to_mu(h)
    log_sigma = to_log_sigma(h).clamp(-4.0, 2.0)
    z = (t - mu) / log_sigma.exp()
    log_comp = -0.5 * z ** 2 - log_sigma - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log_pi + log_comp, dim=1)

# %% training, full batch
opt = torch.optim.Adam(net.parameters(), lr=lr)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=steps)
for step in range(steps):
    net.train()
    loss = nll(x_train, t_train).mean()
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(net.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 100 == 0 or step == steps - 1:
        net.eval()
        with torch.no_grad():
            test = nll(x_test, t_test).mean()
        print(f"step {step:5d}   train nll {loss.item():+.4f}   test nll {test.item():+.4f}")

# %% compare with a single gaussian on the targets
s = t_train.std()
base = (0.5 * ((t_test - t_train.mean()) / s) ** 2 + s.log() + 0.5 * math.log(2 * math.pi)).mean()
net.eval()
with torch.no_grad():
    final = nll(x_test, t_test).mean()
print(f"unconditional gaussian nll {base.item():+.4f}")
print(f"final test nll {final.item():+.4f}")
