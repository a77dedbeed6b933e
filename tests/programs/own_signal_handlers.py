"""The user's own handlers for SIGTERM, SIGINT, SIGALRM and sys.excepthook must be the ones that run."""

import os
import signal
import sys

import torch

print(
    "before",
    [
        str(signal.getsignal(s)).split(" at ")[0]
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1)
    ],
)
print("excepthook", sys.excepthook is sys.__excepthook__, "wakeup", signal.set_wakeup_fd(-1))
seen = []
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
    signal.signal(number, lambda n, frame: seen.append((n, frame.f_code.co_name)))

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    os.kill(os.getpid(), number)
print(seen)


def excepthook(kind, error, traceback):
    depth = 0
    while traceback:
        depth, traceback = depth + 1, traceback.tb_next
    sys.stderr.write(f"handled {kind.__name__}: {error} ({depth} frame)\n")


sys.excepthook = excepthook
raise RuntimeError("last")
