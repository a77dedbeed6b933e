import torch as T


def hebbian_update(weight, pre, post, rate=1e-3):
    """Oja's rule for one sample."""
    delta = T.ger(post, pre) - (post**2).unsqueeze(1) * weight
    return weight + rate * delta


weight = T.randn(8, 20) * 0.1
for sample in T.randn(500, 20):
    weight = hebbian_update(weight, sample, weight @ sample)
print(weight.norm(dim=1))
