import torch
import torch.nn.functional as F


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv1d(1, 8, 5)
        self.fc = torch.nn.Linear(8, 3)

    def forward(self, wave):
        h = F.relu(self.conv(wave)).amax(-1)
        return self.fc(h)


model = Net()
opt = torch.optim.Adam(model.parameters())
wave, kind = torch.randn(300, 1, 40), torch.randint(0, 3, (300,))
for b in torch.randperm(300).split(30):
    opt.zero_grad()
    loss = F.nll_loss(model(wave[b]), kind[b])
    loss.backward()
    opt.step()
