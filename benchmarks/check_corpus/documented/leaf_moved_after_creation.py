import torch

device = torch.device("cuda")
noise = torch.zeros(1, 3, 224, 224, requires_grad=True).to(device)
optimizer = torch.optim.Adam([noise], lr=0.01)


def attack(model, image, label, steps=50):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = -torch.nn.functional.cross_entropy(model(image + noise), label)
        loss.backward()
        optimizer.step()
    return noise.detach()
