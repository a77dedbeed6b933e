"""Small box helpers."""
import torch


def giou_loss(pred, target, eps=1e-6):
    """pred and target: N x 4 corners (x1, y1, x2, y2)."""
    lt = torch.max(pred[:, :2], target[:, :2])
    rb = torch.min(pred[:, 2:], target[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    ap = (pred[:, 2:] - pred[:, :2]).clamp(min=0).prod(1)
    at = (target[:, 2:] - target[:, :2]).clamp(min=0).prod(1)
    union = ap + at - inter
    hull_lt = torch.min(pred[:, :2], target[:, :2])
    hull_rb = torch.max(pred[:, 2:], target[:, 2:])
    hull = (hull_rb - hull_lt).clamp(min=0).prod(1)
    giou = inter / (union + eps) - (hull - union) / (hull + eps)
    return (1 - giou).mean()


def overlap(pred, x, y, w, h):
    """IoU of one predicted box (corners) with one annotated rectangle."""
    x1, y1, x2, y2 = pred
    iw = max(0.0, min(x2, x + w) - max(x1, x))
    ih = max(0.0, min(y2, y + h) - max(y1, y))
    inter = iw * ih
    return inter / (max(0.0, x2 - x1) * max(0.0, y2 - y1) + w * h - inter + 1e-9)
