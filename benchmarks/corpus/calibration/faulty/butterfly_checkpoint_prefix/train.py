import os
import tempfile

import torch
import torch.nn.functional as F
from data import wings
from nets import Finetuner, Pretrainer

torch.manual_seed(int(os.environ.get("SEED", "0")))


def fit(model, params, x, y, epochs, lr):
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(30):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
        print(f"  epoch {epoch} loss {loss.item():.3f}")


def main():
    path = os.path.join(tempfile.mkdtemp(), "pretrained.pt")
    print("pretraining")
    pre = Pretrainer(6)
    x, y = wings(900, [0.0, 30.0, 60.0, 90.0, 120.0, 150.0])
    fit(pre, pre.parameters(), x, y, 6, 5e-3)
    torch.save(pre.state_dict(), path)

    print("fine-tuning the classifier")
    model = Finetuner(6)
    model.load_state_dict(torch.load(path), strict=False)
    for p in model.backbone.parameters():
        p.requires_grad_(False)
    x, y = wings(400, [15.0, 45.0, 75.0, 105.0, 135.0, 165.0])
    xv, yv = wings(300, [15.0, 45.0, 75.0, 105.0, 135.0, 165.0])
    fit(model, model.classifier.parameters(), x, y, 12, 1e-2)
    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"val acc {acc:.3f}")


if __name__ == "__main__":
    main()
