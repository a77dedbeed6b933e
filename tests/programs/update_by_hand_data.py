"""No optimiser, no module: raw weight tensors updated through .data, gradients zeroed by hand."""

import torch
from common import finish, seed_everything

seed_everything(18)
x = torch.randn(64, 4)
y = (x[:, :1] - x[:, 1:2] > 0).float()
w1 = torch.randn(4, 8, requires_grad=True)
b1 = torch.zeros(8, requires_grad=True)
w2 = torch.randn(8, 1, requires_grad=True)

for step in range(40):
    hidden = torch.tanh(x.mm(w1) + b1)
    prediction = torch.sigmoid(hidden.mm(w2))
    loss = -(y * torch.log(prediction + 1e-7) + (1 - y) * torch.log(1 - prediction + 1e-7)).mean()
    loss.backward()
    for w in (w1, b1, w2):
        w.data -= 0.5 * w.grad.data
        w.grad.zero_()
    print(step, repr(loss.item()))
finish(w1, b1, w2)
