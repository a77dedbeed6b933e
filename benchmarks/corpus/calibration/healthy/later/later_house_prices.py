import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader, random_split


def generate_houses(n, generator):
    area = 40 + 160 * torch.rand(n, generator=generator)
    rooms = (area / 30 + torch.randn(n, generator=generator)).round().clamp(1, 8)
    age = 80 * torch.rand(n, generator=generator)
    dist = 25 * torch.rand(n, generator=generator)
    garden = (torch.rand(n, generator=generator) < 0.4).float()
    price = (
        2600 * area * torch.exp(-dist / 20)
        + 9000 * rooms
        - 900 * age
        + 14 * (age - 40).clamp(min=0) ** 2
        + 30000 * garden
        + 60000
        + 8000 * torch.randn(n, generator=generator)
    )
    return torch.stack([area, rooms, age, dist, garden], dim=1), price.unsqueeze(1)


class Standardizer:
    def fit(self, t):
        self.mean = t.mean(dim=0, keepdim=True)
        self.std = t.std(dim=0, keepdim=True)
        return self

    def transform(self, t):
        return (t - self.mean) / self.std

    def inverse(self, t):
        return t * self.std + self.mean


class PriceModel(nn.Module):
    def __init__(self, in_features, hidden=64):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        x = self.act(self.fc1(x))
        x = self.act(self.fc2(x))
        return self.fc3(x)


class Trainer:
    def __init__(self, model, x_scaler, y_scaler, lr=2e-3):
        self.model = model
        self.x_scaler = x_scaler
        self.y_scaler = y_scaler
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def fit(self, train_loader, val_data, epochs):
        for epoch in range(1, epochs + 1):
            self.model.train()
            running, seen = 0.0, 0
            for features, price in train_loader:
                features = self.x_scaler.transform(features)
                target = self.y_scaler.transform(price)
                self.optimizer.zero_grad()
                prediction = self.model(features)
                loss = self.criterion(prediction, target)
                loss.backward()
                self.optimizer.step()
                running += loss.item() * len(features)
                seen += len(features)
            if epoch % 5 == 0:
                mae, r2 = self.evaluate(*val_data)
                print(f"Epoch {epoch:3d}: loss={running / seen:.4f} val MAE={mae:,.0f} val R2={r2:.4f}")

    @torch.no_grad()
    def evaluate(self, features, price):
        self.model.eval()
        prediction = self.y_scaler.inverse(self.model(self.x_scaler.transform(features)))
        mae = (prediction - price).abs().mean().item()
        r2 = 1 - ((prediction - price) ** 2).sum() / ((price - price.mean()) ** 2).sum()
        return mae, r2.item()


def main():
    torch.manual_seed(11)
    g = torch.Generator().manual_seed(11)
    X, y = generate_houses(3000, g)
    dataset = TensorDataset(X, y)
    train_set, val_set, test_set = random_split(dataset, [2200, 400, 400], generator=g)
    X_train, y_train = train_set[:]
    x_scaler = Standardizer().fit(X_train)
    y_scaler = Standardizer().fit(y_train)

    trainer = Trainer(PriceModel(X.shape[1]), x_scaler, y_scaler)
    trainer.fit(DataLoader(train_set, batch_size=64, shuffle=True), val_set[:], epochs=40)
    mae, r2 = trainer.evaluate(*test_set[:])
    print(f"Test MAE: {mae:,.0f} EUR, R2: {r2:.4f}")


if __name__ == "__main__":
    main()
