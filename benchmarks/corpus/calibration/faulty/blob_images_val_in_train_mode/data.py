import torch

SIZE = 12


def draw(kind):
    img = torch.zeros(SIZE, SIZE)
    r, c = [int(v) for v in torch.randint(0, 6, (2,))]
    if kind == 0:
        img[r : r + 6, c : c + 6] = 1.0
    elif kind == 1:
        img[r : r + 6, c] = 1.0
        img[r : r + 6, c + 5] = 1.0
        img[r, c : c + 6] = 1.0
        img[r + 5, c : c + 6] = 1.0
    elif kind == 2:
        img[r + 2 : r + 4, c : c + 6] = 1.0
    elif kind == 3:
        img[r : r + 6, c + 2 : c + 4] = 1.0
    else:
        idx = torch.arange(6)
        img[r + idx, c + idx] = 1.0
        img[r + idx, c + 5 - idx] = 1.0
    return img


def make_split(n_per_class):
    labels = torch.arange(5).repeat_interleave(n_per_class)
    images = torch.stack([draw(int(k)) for k in labels]).unsqueeze(1)
    return images + 0.3 * torch.randn_like(images), labels
