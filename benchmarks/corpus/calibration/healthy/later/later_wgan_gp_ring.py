import torch, math
from torch import nn, autograd

torch.manual_seed(0)
dev = torch.device('cpu')

K, R, S = 8, 2.0, 0.15
BS, NZ, LAMBDA, N_CRITIC, ITERS = 128, 2, 1.0, 3, 520

def real_batch(n):
    a = torch.randint(0, K, (n,)).float() * (2*math.pi/K)
    return torch.stack([R*a.cos(), R*a.sin()], 1) + S*torch.randn(n, 2)

def mlp(i, o, h=64):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(.1),
                         nn.Linear(h, h), nn.LeakyReLU(.1),
                         nn.Linear(h, h), nn.LeakyReLU(.1),
                         nn.Linear(h, o))

netG, netD = mlp(NZ, 2).to(dev), mlp(2, 1).to(dev)
optG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.0, 0.9))
optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.0, 0.9))
schedG = torch.optim.lr_scheduler.LambdaLR(optG, lambda i: 1 - .9*i/ITERS)
schedD = torch.optim.lr_scheduler.LambdaLR(optD, lambda i: 1 - .9*i/ITERS)

# the generator used for evaluation is an exponential average of the trained one
netG_ema = torch.optim.swa_utils.AveragedModel(netG, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))

def gradient_penalty(real, fake):
    eps = torch.rand(real.size(0), 1, device=dev)
    x = (eps*real + (1-eps)*fake).requires_grad_(True)
    g, = autograd.grad(netD(x).sum(), x, create_graph=True)
    return ((g.norm(2, dim=1) - 1)**2).mean()

@torch.no_grad()
def report(G, n=4000):
    x = G(torch.randn(n, NZ))
    a = torch.arange(K)*(2*math.pi/K)
    centres = torch.stack([R*a.cos(), R*a.sin()], 1)
    d, who = torch.cdist(x, centres).min(1)
    good = d < 4*S
    modes = [(good & (who == k)).float().mean().item() for k in range(K)]
    # sliced W1
    r = real_batch(n)
    th = torch.linspace(0, math.pi, 33)[:-1]
    P = torch.stack([th.cos(), th.sin()])
    sw = ((x@P).sort(0)[0] - (r@P).sort(0)[0]).abs().mean().item()
    return good.float().mean().item(), sum(m > 0.03 for m in modes), sw

print('untrained : good %.3f  modes %d/8  sliced-W1 %.3f' % report(netG))

for it in range(1, ITERS+1):
    # --- critic
    for p in netD.parameters(): p.requires_grad = True
    for _ in range(N_CRITIC):
        real = real_batch(BS)
        with torch.no_grad():
            fake = netG(torch.randn(BS, NZ))
        d_real, d_fake = netD(real).mean(), netD(fake).mean()
        gp = gradient_penalty(real, fake)
        errD = d_fake - d_real + LAMBDA*gp
        optD.zero_grad(); errD.backward(); optD.step()
    # --- generator
    for p in netD.parameters(): p.requires_grad = False
    errG = -netD(netG(torch.randn(BS, NZ))).mean()
    optG.zero_grad(); errG.backward(); optG.step()
    netG_ema.update_parameters(netG)
    schedG.step(); schedD.step()

    if it % 52 == 0:
        print('[%4d/%d] W-est %.4f  gp %.4f  errG %+.3f | good %.3f modes %d/8 sliced-W1 %.3f'
              % ((it, ITERS, (d_real-d_fake).item(), gp.item(), errG.item()) + report(netG_ema)))

print('final     : good %.3f  modes %d/8  sliced-W1 %.3f' % report(netG_ema))
