import torch
from torch import nn

torch.manual_seed(3)
size = torch.rand(800) * 150 + 30
rooms = torch.randint(1, 7, (800,)).float()
price = 2.5 * size / 180 + 0.3 * rooms + 0.1 * torch.randn(800)
features = torch.stack([(size - size.mean()) / size.std(), (rooms - rooms.mean()) / rooms.std()], dim=1)
price = (price - price.mean()) / price.std()

model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.MSELoss()

for epoch in range(40):
    for batch in torch.randperm(800).split(80):
        optimizer.zero_grad()
        prediction = model(features[batch])
        loss = criterion(prediction, price[batch])
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}  mean squared error {loss.item():.3f}")
