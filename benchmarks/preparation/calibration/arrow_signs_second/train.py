"""Adapted from a CIFAR tutorial: small conv net, standard crop + flip augmentation, cosine schedule."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CFG = dict(epochs=8, batch_size=50, lr=0.05, momentum=0.9, wd=5e-4, pad=3, seed=1234)


class Arrays(Dataset):
    def __init__(self, x, y, augment, rng):
        self.x = x.astype(np.float32) / 255.0
        self.y = y.astype(np.int64)
        self.augment, self.rng = augment, rng

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = self.x[i]
        if self.augment:
            p = CFG["pad"]
            padded = np.pad(img, p, mode="edge")
            r, c = self.rng.integers(0, 2 * p + 1, 2)
            img = padded[r:r + img.shape[0], c:c + img.shape[1]]
            if self.rng.random() < 0.5:
                img = np.fliplr(img)
        img = (img - 0.4) / 0.25
        return torch.from_numpy(np.ascontiguousarray(img))[None], self.y[i]


def conv_bn(i, o, stride):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


def run():
    torch.manual_seed(CFG["seed"])
    rng = np.random.default_rng(CFG["seed"])
    z = np.load("arrows.npz")
    train = DataLoader(Arrays(z["x_train"], z["y_train"], True, rng), CFG["batch_size"], shuffle=True)
    test = DataLoader(Arrays(z["x_test"], z["y_test"], False, rng), 200)
    net = nn.Sequential(conv_bn(1, 12, 1), conv_bn(12, 24, 2), conv_bn(24, 32, 2), conv_bn(32, 32, 2),
                        nn.Flatten(), nn.Linear(32 * 16, len(z["names"])))
    opt = torch.optim.SGD(net.parameters(), lr=CFG["lr"], momentum=CFG["momentum"], weight_decay=CFG["wd"], nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, CFG["epochs"])
    for ep in range(CFG["epochs"]):
        net.train()
        seen = hit = 0
        for x, y in train:
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hit += (out.argmax(1) == y).sum().item()
            seen += len(y)
        sched.step()
        net.eval()
        with torch.no_grad():
            conf = np.zeros((4, 4), int)
            for x, y in test:
                np.add.at(conf, (y.numpy(), net(x).argmax(1).numpy()), 1)
        print(f"{ep + 1:3d}/{CFG['epochs']} train acc {hit / seen:.3f} test acc {conf.trace() / conf.sum():.3f}")
    for name, row in zip(z["names"], conf):
        print(f"{name:12s}", row)


if __name__ == "__main__":
    run()
