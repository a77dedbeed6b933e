# Plain logistic regression on word frequencies. The inputs are small, so the step size is large.
import os
import torch
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

V = 80
ham = torch.softmax(torch.randn(V), 0)
spam = torch.softmax(torch.randn(V), 0)


def mails(n):
    y = torch.randint(0, 2, (n,)).float()
    p = torch.where(y[:, None] == 1, 0.35 * spam + 0.65 * ham, ham)
    words = torch.multinomial(p, 60, replacement=True)
    freq = torch.zeros(n, V).scatter_add_(1, words, torch.ones(n, 60)) / 60
    return freq, y


x, y = mails(2000)
x_test, y_test = mails(500)
centre = x.mean(0)
x, x_test = x - centre, x_test - centre
model = torch.nn.Linear(V, 1)
optimizer = torch.optim.SGD([{"params": [model.weight], "lr": 60.0}, {"params": [model.bias], "lr": 0.5}])
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1.0, end_factor=0.1, total_iters=12)

for epoch in range(12):
    for idx in torch.randperm(2000).split(50):
        loss = F.binary_cross_entropy_with_logits(model(x[idx]).squeeze(1), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            out = model(x_test).squeeze(1)
        acc = ((out > 0).float() == y_test).float().mean()
        print(f"epoch {epoch + 1}: test loss {F.binary_cross_entropy_with_logits(out, y_test):.4f} acc {acc:.3f}")
