# Train a teacher on digits, then distill it into a much smaller student.
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(4)

NUM_CLASSES = 10
T = 4.0        # temperature
ALPHA = 0.8    # share of the soft loss


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, NUM_CLASSES)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = F.dropout(F.relu(self.fc1(x.flatten(1))), 0.3, self.training)
        return self.fc2(x)


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 20)
        self.bn1 = nn.BatchNorm1d(20)
        self.fc2 = nn.Linear(20, 20)
        self.bn2 = nn.BatchNorm1d(20)
        self.fc3 = nn.Linear(20, NUM_CLASSES)

    def forward(self, x):
        x = x.flatten(1)
        x = F.relu(self.bn1(self.fc1(x)))
        x = F.relu(self.bn2(self.fc2(x)))
        return self.fc3(x)


def get_data():
    d = load_digits()
    x = torch.from_numpy(d.images).float().unsqueeze(1) / 16 - 0.3
    y = torch.from_numpy(d.target).long()
    p = torch.randperm(len(x))
    x, y = x[p], y[p]
    return x[:1300], y[:1300], x[1300:], y[1300:]


def iterate(x, y, bs):
    perm = torch.randperm(len(x))
    for i in range(0, len(x) - bs + 1, bs):
        j = perm[i:i + bs]
        yield x[j], y[j]


def per_class_report(model, x, y):
    """accuracy for every class and overall"""
    model.eval()
    correct, accs = 0, []
    with torch.no_grad():
        for c in range(NUM_CLASSES):
            xc = x[y == c]
            hit = (model(xc).argmax(dim=1) == c).sum().item()
            correct += hit
            accs.append(hit / len(xc))
    return correct / len(x), accs


def train_teacher(teacher, x, y, epochs=6):
    opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for ep in range(epochs):
        teacher.train()
        tot = 0
        for xb, yb in iterate(x, y, 50):
            opt.zero_grad()
            loss = F.cross_entropy(teacher(xb), yb)
            loss.backward()
            opt.step()
            tot += loss.item()
        print("teacher epoch", ep, "loss", round(tot / (len(x) // 50), 4))


def kd_loss(student_logits, teacher_logits, y):
    soft = F.kl_div(
        F.log_softmax(student_logits / T, dim=1),
        F.softmax(teacher_logits / T, dim=1),
        reduction="batchmean",
    ) * T * T
    hard = F.cross_entropy(student_logits, y)
    return ALPHA * soft + (1 - ALPHA) * hard


def distill(teacher, student, x, y, xte, yte, epochs=30):
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[18, 25], gamma=0.2)
    for ep in range(epochs):
        student.train()
        tot = 0
        for xb, yb in iterate(x, y, 50):
            with torch.no_grad():
                t_logits = teacher(xb)
            s_logits = student(xb)
            loss = kd_loss(s_logits, t_logits, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        sched.step()
        if ep % 5 == 4:
            acc, _ = per_class_report(student, xte, yte)
            print("student epoch", ep, "loss", round(tot / (len(x) // 50), 4), "test acc", round(acc, 4))


x_train, y_train, x_test, y_test = get_data()
teacher = Teacher()
student = Student()
n_t = sum(p.numel() for p in teacher.parameters())
n_s = sum(p.numel() for p in student.parameters())
print(f"teacher {n_t} params, student {n_s} params")

train_teacher(teacher, x_train, y_train)
acc_t, _ = per_class_report(teacher, x_test, y_test)
print("teacher test acc", round(acc_t, 4))

distill(teacher, student, x_train, y_train, x_test, y_test)
acc_s, accs = per_class_report(student, x_test, y_test)
for c, a in enumerate(accs):
    print(f"  class {c}: {a:.3f}")
print("student test acc", round(acc_s, 4))
