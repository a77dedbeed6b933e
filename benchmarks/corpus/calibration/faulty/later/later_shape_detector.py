import copy
import math
from typing import Dict, Tuple

import torch
from torch import nn
from torch.nn import functional as F

IMG = 32
CLASSES = ("square", "disc", "cross")


def draw_scene(gen: torch.Generator) -> Tuple[torch.Tensor, int, torch.Tensor]:
    """One bright shape on a noisy background. The box is (x1, y1, x2, y2) in pixels."""
    img = 0.15 * torch.rand(IMG, IMG, generator=gen)
    cls = int(torch.randint(3, (1,), generator=gen))
    size = int(torch.randint(9, 18, (1,), generator=gen))
    x1 = int(torch.randint(0, IMG - size, (1,), generator=gen))
    y1 = int(torch.randint(0, IMG - size, (1,), generator=gen))
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = (size - 1) / 2
    if cls == 0:
        m = torch.ones(size, size, dtype=torch.bool)
    elif cls == 1:
        m = (yy - c) ** 2 + (xx - c) ** 2 <= (size / 2) ** 2
    else:
        m = ((yy - c).abs() <= size / 6) | ((xx - c).abs() <= size / 6)
    patch = img[y1:y1 + size, x1:x1 + size]
    patch[m] = 0.6 + 0.4 * torch.rand(1, generator=gen)
    box = torch.tensor([x1, y1, x1 + size, y1 + size], dtype=torch.float32)
    return img, cls, box


def make_set(n: int, seed: int) -> Dict[str, torch.Tensor]:
    gen = torch.Generator().manual_seed(seed)
    imgs, cls, boxes = zip(*(draw_scene(gen) for _ in range(n)))
    return {"img": torch.stack(imgs).unsqueeze(1), "cls": torch.tensor(cls), "box": torch.stack(boxes)}


class Detector(nn.Module):
    def __init__(self, ch: int = 12):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, ch, 3, stride=2, padding=1), nn.BatchNorm2d(ch), nn.LeakyReLU(0.1),
            nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1), nn.BatchNorm2d(2 * ch), nn.LeakyReLU(0.1),
            nn.Conv2d(2 * ch, 2 * ch, 3, stride=2, padding=1), nn.BatchNorm2d(2 * ch), nn.LeakyReLU(0.1),
        )
        self.neck = nn.Linear(2 * ch * 16, 96)
        self.cls_head = nn.Linear(96, len(CLASSES))
        self.box_head = nn.Linear(96, 4)

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        h = F.relu(self.neck(self.backbone(x).flatten(1)))
        boxes = torch.sigmoid(self.box_head(h))
        return self.cls_head(h), boxes


class DetectionLoss(nn.Module):
    def __init__(self, box_weight: float = 0.2):
        super().__init__()
        self.box_weight = box_weight

    def forward(self, logits, boxes, cls, target):
        l_cls = F.cross_entropy(logits, cls)
        l_box = F.smooth_l1_loss(boxes, target, reduction="none").sum(1).mean()
        return l_cls + self.box_weight * l_box, l_cls.detach(), l_box.detach()


def iou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda q: (q[:, 2:] - q[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter).clamp(min=1e-6)


class EMA:
    """Running average of the weights; this copy is the one we validate."""

    def __init__(self, model: nn.Module, decay: float = 0.97):
        self.model = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.model.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for e, p in zip(self.model.parameters(), model.parameters()):
            e.lerp_(p, 1 - self.decay)
        for e, b in zip(self.model.buffers(), model.buffers()):
            e.copy_(b)


class Runner:
    def __init__(self, epochs: int = 12, batch: int = 64, lr: float = 3e-3):
        torch.manual_seed(3)
        self.train_set, self.val_set = make_set(2000, 100), make_set(400, 200)
        self.epochs, self.batch = epochs, batch
        self.model = Detector()
        self.ema = EMA(self.model)
        self.loss = DetectionLoss()
        self.optim = torch.optim.Adam(self.model.parameters(), lr=lr)
        steps = epochs * math.ceil(2000 / batch)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.optim, steps)

    def train_epoch(self):
        self.model.train()
        acc = torch.zeros(2)
        n = 0
        for idx in torch.randperm(len(self.train_set["img"])).split(self.batch):
            b = {k: v[idx] for k, v in self.train_set.items()}
            logits, boxes = self.model(b["img"])
            loss, lc, lb = self.loss(logits, boxes, b["cls"], b["box"])
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            self.sched.step()
            self.ema.update(self.model)
            acc += torch.stack([lc, lb])
            n += 1
        return (acc / n).tolist()

    @torch.inference_mode()
    def validate(self):
        logits, boxes = self.ema.model(self.val_set["img"])
        a = (logits.argmax(1) == self.val_set["cls"]).float().mean().item()
        return a, iou(boxes, self.val_set["box"]).mean().item()

    def run(self):
        for ep in range(self.epochs):
            lc, lb = self.train_epoch()
            acc, miou = self.validate()
            print(f"ep {ep:2d} cls_loss {lc:.4f} box_loss {lb:.4f} | val acc {acc:.3f} mean IoU {miou:.3f}")
        print(f"RESULT acc={acc:.3f} miou={miou:.3f}")


if __name__ == "__main__":
    Runner().run()
