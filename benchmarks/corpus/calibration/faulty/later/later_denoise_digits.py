import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.func import functional_call


class ResidualUnit(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.a = nn.Conv2d(ch, ch, 3, padding=1)
        self.b = nn.Conv2d(ch, ch, 3, padding=1)

    def forward(self, x):
        return x + self.b(F.gelu(self.a(F.gelu(x))))


class Denoiser(nn.Module):
    def __init__(self, ch=24, depth=2):
        super().__init__()
        self.stem = nn.Conv2d(1, ch, 3, padding=1)
        self.units = nn.Sequential(*[ResidualUnit(ch) for _ in range(depth)])
        self.tail = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x):
        h = self.units(self.stem(x))
        return torch.sigmoid(self.tail(F.gelu(h)))


class Trainer:
    def __init__(self, model, train_x, test_x, *, epochs=8, batch=64, sigma=0.7, max_lr=6e-3, ema=0.98):
        self.model = model
        self.train_x, self.test_x = train_x, test_x
        self.epochs, self.batch, self.sigma = epochs, batch, sigma
        self.opt = torch.optim.AdamW(model.parameters(), lr=max_lr / 25, weight_decay=1e-4)
        steps = math.ceil(len(train_x) / batch) * epochs
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, max_lr=max_lr, total_steps=steps)
        self.ema_decay = ema
        self.ema = {k: v.detach().clone() for k, v in model.state_dict().items()}
        g = torch.Generator().manual_seed(123)
        self.test_noisy = test_x + sigma * torch.randn(test_x.shape, generator=g)

    def corrupt(self, x):
        return x + self.sigma * torch.randn_like(x)

    @torch.no_grad()
    def update_ema(self):
        for k, v in self.model.state_dict().items():
            self.ema[k].lerp_(v, 1 - self.ema_decay)

    @staticmethod
    def psnr(a, b):
        # peak-to-peak range is 2
        return 10 * math.log10(4.0 / F.mse_loss(a, b).item())

    @torch.no_grad()
    def test_psnr(self):
        out = functional_call(self.model, self.ema, (self.test_noisy,))
        return self.psnr(out, self.test_x)

    def fit(self):
        print(f"noisy input: {self.psnr(self.test_noisy, self.test_x):.2f} dB")
        for ep in range(1, self.epochs + 1):
            perm = torch.randperm(len(self.train_x))
            tot = 0.0
            for ix in perm.split(self.batch):
                clean = self.train_x[ix]
                restored = self.model(self.corrupt(clean))
                loss = F.mse_loss(restored, clean, reduction="sum") / len(ix)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.sched.step()
                self.update_ema()
                tot += loss.item() * len(ix)
            print(f"ep {ep:2d}  loss/img {tot / len(self.train_x):7.3f}  test psnr (ema) {self.test_psnr():.2f} dB")
        return self.test_psnr()


if __name__ == "__main__":
    torch.manual_seed(0)
    imgs = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1)
    imgs = imgs / 16.0 * 2 - 1
    imgs = imgs[torch.randperm(len(imgs))]
    trainer = Trainer(Denoiser(), imgs[:1400], imgs[1400:])
    result = trainer.fit()
    print(f"FINAL psnr {result:.2f} dB")
