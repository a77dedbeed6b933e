import numpy as np, torch, torch.nn as nn

rs = np.random.RandomState(33); torch.manual_seed(33)
d = np.load('syllables.npz')
wav = d['wav'].astype('float32') / 32768
tones, y = np.unique(d['tone'], return_inverse=True)
held_out = d['speaker'] >= 19          # five speakers for testing
print(len(wav), 'syllables,', list(tones), 'test speakers:', sorted(set(d['speaker'][held_out].tolist())))

window = torch.hann_window(400)
def logspec(batch):
    s = torch.stft(torch.as_tensor(batch), 1024, 160, 400, window, return_complex=True).abs()
    return torch.log1p(10 * s[:, 8:150])

def augment(x):
    x = x * rs.uniform(.6, 1.4)
    x = np.roll(x, rs.randint(-100, 100))
    if rs.rand() < .5:
        x = x[::-1]
    return x + rs.normal(0, .01, len(x)).astype('float32')

class ToneNet(nn.Module):
    def __init__(s):
        super().__init__()
        s.conv = nn.Sequential(
            nn.Conv2d(1, 12, 5, 2, 2), nn.BatchNorm2d(12), nn.ReLU(),
            nn.Conv2d(12, 24, 5, 2, 2), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 24, 3, (2, 1), 1), nn.BatchNorm2d(24), nn.ReLU())
        s.fc = nn.Linear(24 * 4, len(tones))
    def forward(s, x):
        h = s.conv(x[:, None]).amax(2)             # strongest partial at every moment
        return s.fc(nn.functional.dropout(h, .2, s.training).flatten(1))

tr, te = np.where(~held_out)[0], np.where(held_out)[0]
Xte, yte = logspec(wav[te]), torch.as_tensor(y[te])
net = ToneNet()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(18):
    net.train(); L = 0
    rs.shuffle(tr)
    for i in range(0, len(tr), 38):
        ix = tr[i:i + 38]
        X = logspec(np.stack([augment(wav[j]) for j in ix]))
        loss = nn.functional.cross_entropy(net(X), torch.as_tensor(y[ix]))
        opt.zero_grad(); loss.backward(); opt.step(); L += loss.item()
    if epoch % 3 == 2:
        net.eval()
        with torch.no_grad(): p = net(Xte).argmax(1)
        print(f'{epoch:2d} loss {L / 12:.3f} unseen speakers {(p == yte).float().mean():.3f}')
for k, t in enumerate(tones):
    print(f'   {t:8s} {(p[yte == k] == k).float().mean():.2f}')
