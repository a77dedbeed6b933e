import random

random.seed(8)
spam = "win prize cash free claim urgent offer call voucher click bonus selected guaranteed ringtone winner award txt reply stop camera".split()
ham = "dinner tonight sorry late home love mum bus class homework tomorrow pub lunch wait sleep meeting okay bring milk weekend".split()
both = "you the to a and is in for your i on now have will at me today just get we can it do be week phone time send if know".split()
names = ["w%03d" % i for i in range(400)]


def line(label):
    n = random.randint(6, 22)
    own, other = (spam, ham) if label == "spam" else (ham, spam)
    out = []
    for _ in range(n):
        r = random.random()
        if r < 0.16:
            out.append(random.choice(own))
        elif r < 0.24:
            out.append(random.choice(other))
        elif r < 0.34:
            out.append(random.choice(names))
        else:
            out.append(random.choice(both))
    text = " ".join(out)
    return text.capitalize() + random.choice(["", ".", "!", " ..."])


for fn, n in [("sms_train.txt", 2400), ("sms_test.txt", 600)]:
    with open(fn, "w", encoding="utf-8") as f:
        for _ in range(n):
            lab = "spam" if random.random() < 0.45 else "ham"
            f.write(lab + "\t" + line(lab) + "\n")
