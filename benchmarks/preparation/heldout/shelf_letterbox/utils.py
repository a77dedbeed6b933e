import numpy as np
import torch
from PIL import Image


def letterbox(im, side, fill=(114, 114, 114)):
    """fit the frame into a square without changing its proportions"""
    scale = side / max(im.size)
    w, h = round(im.width * scale), round(im.height * scale)
    canvas = Image.new("RGB", (side, side), fill)
    canvas.paste(im.resize((w, h), Image.BILINEAR), ((side - w) // 2, (side - h) // 2))
    return canvas


def to_tensor(im):
    return torch.from_numpy(np.array(im, dtype=np.float32)).permute(2, 0, 1) / 255.0 - 0.45


def box_iou(p, q):
    x1 = torch.max(p[:, 0], q[:, 0])
    y1 = torch.max(p[:, 1], q[:, 1])
    x2 = torch.min(p[:, 2], q[:, 2])
    y2 = torch.min(p[:, 3], q[:, 3])
    inter = (x2 - x1).clamp(0) * (y2 - y1).clamp(0)
    a = (p[:, 2] - p[:, 0]).clamp(0) * (p[:, 3] - p[:, 1]).clamp(0)
    b = (q[:, 2] - q[:, 0]) * (q[:, 3] - q[:, 1])
    return inter / (a + b - inter + 1e-9)
