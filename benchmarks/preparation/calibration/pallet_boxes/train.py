import json
import os

import numpy as np
import torch
import torch.nn as nn
from PIL import Image

from boxes import giou_loss, overlap

IMG_W, IMG_H = 96, 64
SCALE = torch.tensor([IMG_W, IMG_H, IMG_W, IMG_H], dtype=torch.float32)


def load_coco(path, root="warehouse"):
    coco = json.load(open(path))
    by_image = {a["image_id"]: a for a in coco["annotations"]}
    pixels, boxes = [], []
    for info in coco["images"]:
        im = Image.open(os.path.join(root, info["file_name"])).convert("L")
        pixels.append(np.asarray(im, dtype=np.float32) / 255.0)
        boxes.append(by_image[info["id"]]["bbox"])
    x = torch.from_numpy(np.stack(pixels)).unsqueeze(1)
    x = (x - x.mean(dim=(2, 3), keepdim=True)) * 4
    return x, torch.tensor(boxes, dtype=torch.float32)


class Locator(nn.Module):
    def __init__(self):
        super().__init__()
        ch = [1, 12, 24, 48]
        layers = []
        for i, o in zip(ch, ch[1:]):
            layers += [nn.Conv2d(i, o, 3, stride=2, padding=1), nn.BatchNorm2d(o), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.out = nn.Sequential(nn.Flatten(), nn.Linear(48 * 8 * 12, 96), nn.ReLU(), nn.Linear(96, 4))

    def forward(self, x):
        cx, cy, w, h = self.out(self.trunk(x)).sigmoid().unbind(1)
        return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1) * SCALE


def evaluate(model, x, annotated):
    model.eval()
    with torch.no_grad():
        pred = model(x).tolist()
    ious = [overlap(p, *b) for p, b in zip(pred, annotated.tolist())]
    return float(np.mean(ious)), float(np.mean([i > 0.5 for i in ious]))


def main():
    torch.manual_seed(0)
    x_tr, b_tr = load_coco("pallets_train.json")
    x_va, b_va = load_coco("pallets_val.json")
    print(f"{len(x_tr)} training images, {len(x_va)} validation images")
    model = Locator()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(12):
        model.train()
        losses = []
        for idx in torch.randperm(len(x_tr)).split(28):
            pred = model(x_tr[idx])
            target = b_tr[idx]
            loss = giou_loss(pred, target) + 0.02 * nn.functional.l1_loss(pred, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if epoch % 4 == 3:
            miou, _ = evaluate(model, x_va, b_va)
            print(f"epoch {epoch + 1} loss {np.mean(losses):.3f} val mean IoU {miou:.3f}")
    miou, ap50 = evaluate(model, x_va, b_va)
    print(f"final val mean IoU {miou:.3f}, share over 0.5: {ap50:.3f}")


if __name__ == "__main__":
    main()
