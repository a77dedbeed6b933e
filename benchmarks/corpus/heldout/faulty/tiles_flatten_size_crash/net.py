import torch.nn as nn


def build_cnn(n_classes, ch=(10, 20)):
    a, b = ch
    features = nn.Sequential(
        nn.Conv2d(3, a, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(a, b, 3), nn.ReLU(), nn.MaxPool2d(2),
    )
    classifier = nn.Sequential(
        nn.Flatten(),
        nn.Linear(b * 5 * 5, 48),
        nn.ReLU(),
        nn.Linear(48, n_classes),
    )
    return nn.Sequential(features, classifier)
