import csv
import random

rnd = random.Random(61)
intents = ["play_music", "set_alarm", "weather", "call_person", "lights"]
hints = {
    "play_music": ["song", "play", "album"], "set_alarm": ["wake", "alarm", "timer"],
    "weather": ["rain", "sunny", "forecast"], "call_person": ["ring", "call", "dial"], "lights": ["lamp", "bright", "dim"],
}
syll = ["ka", "mo", "ti", "re", "su", "na", "lo", "vi", "pe", "do"]
vocab = sorted({a + b + c for a in syll for b in syll for c in syll})
rnd.shuffle(vocab)
with open("phrases.tsv", "w", newline="") as f:
    w = csv.writer(f, delimiter="\t")
    w.writerow(["phrase", "intent"])
    for _ in range(450):
        it = rnd.choice(intents)
        ws = rnd.sample(vocab, rnd.randint(6, 9))
        if rnd.random() < 0.85:
            ws.append(rnd.choice(hints[it]))
        else:
            ws.append(rnd.choice(hints[rnd.choice(intents)]))
        rnd.shuffle(ws)
        w.writerow([" ".join(ws), it])
