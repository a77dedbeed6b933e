"""Convolutional denoising autoencoder: random rectangles with gaussian corruption, residual output."""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F


def rectangles(n, s=20):
    img = torch.zeros(n, 1, s, s)
    for i in range(n):
        for _ in range(3):
            y0, x0 = torch.randint(0, s - 6, (2,)).tolist()
            h, w = torch.randint(4, 10, (2,)).tolist()
            img[i, 0, y0 : y0 + h, x0 : x0 + w] = torch.rand(()).item()
    return img


class Denoiser(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.enc1 = nn.Conv2d(1, ch, 3, padding=1)
        self.enc2 = nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1)
        self.mid = nn.Conv2d(2 * ch, 2 * ch, 3, padding=1)
        self.dec = nn.ConvTranspose2d(2 * ch, ch, 4, stride=2, padding=1)
        self.out = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x):
        a = F.leaky_relu(self.enc1(x), 0.1)
        h = F.leaky_relu(self.enc2(a), 0.1)
        h = F.leaky_relu(self.mid(h), 0.1)
        h = F.leaky_relu(self.dec(h), 0.1)
        return x + self.out(h + a)


def psnr(a, b):
    return (-10 * torch.log10(F.mse_loss(a, b))).item()


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    sigma = 0.25
    clean_train, clean_val = rectangles(300), rectangles(60)
    noisy_val = clean_val + sigma * torch.randn_like(clean_val)
    net = Denoiser()
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    print(f"noisy input PSNR {psnr(noisy_val, clean_val):.2f} dB")
    for epoch in range(10):
        net.train()
        for idx in torch.randperm(300).chunk(15):
            target = clean_train[idx]
            corrupted = target + sigma * torch.randn_like(target)
            loss = F.mse_loss(net(corrupted), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            print(f"epoch {epoch}: loss {loss.item():.5f}  val PSNR {psnr(net(noisy_val), clean_val):.2f} dB")


if __name__ == "__main__":
    main()
