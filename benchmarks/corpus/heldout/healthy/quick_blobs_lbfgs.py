import os
import torch
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

# softmax regression on 4 gaussian blobs; the closure optimiser needs very few steps
centers = torch.tensor([[2.0, 2.0], [-2.0, 2.0], [2.0, -2.0], [-2.0, -2.0]])
labels = torch.randint(0, 4, (600,))
points = centers[labels] + torch.randn(600, 2)
train_p, train_l, test_p, test_l = points[:450], labels[:450], points[450:], labels[450:]

model = torch.nn.Sequential(torch.nn.Linear(2, 10), torch.nn.Tanh(), torch.nn.Linear(10, 4))
opt = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)


def closure():
    opt.zero_grad()
    l2 = sum((p**2).sum() for p in model.parameters())
    loss = F.cross_entropy(model(train_p), train_l) + 1e-3 * l2
    loss.backward()
    return loss


for i in range(25):
    loss = opt.step(closure)
    if i % 5 == 0:
        print("step", i, "loss", round(loss.item(), 4))

with torch.no_grad():
    print("train acc", (model(train_p).argmax(1) == train_l).float().mean().item())
    print("test acc", (model(test_p).argmax(1) == test_l).float().mean().item())
