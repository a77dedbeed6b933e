import torch
import torch.nn.functional as F


class HalfTrainer:
    def __init__(self, model):
        self.model = model.cuda()
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, x, y):
        self.opt.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(self.model(x.cuda()), y.cuda())
        self.scaler.scale(loss).backward()
        self.scaler.step(self.opt)
        return loss.detach()


def fit(model, loader):
    trainer = HalfTrainer(model)
    for x, y in loader:
        trainer.step(x, y)
