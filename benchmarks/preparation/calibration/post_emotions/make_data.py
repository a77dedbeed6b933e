import json
import random

random.seed(40)
cls = {"anger": 0, "joy": 1, "neutral": 2, "sadness": 3}
share = {"anger": 0.05, "joy": 0.16, "neutral": 0.72, "sadness": 0.07}
words = {c: [f"{c[:2]}{i}" for i in range(25)] for c in cls}
common = [f"w{i}" for i in range(120)]
with open("posts.jsonl", "w") as f:
    for _ in range(5000):
        c = random.choices(list(share), list(share.values()))[0]
        n = random.randint(8, 20)
        toks = []
        for _ in range(n):
            r = random.random()
            if r < 0.11:
                toks.append(random.choice(words[c]))
            elif r < 0.19:
                toks.append(random.choice(words[random.choice(list(cls))]))
            else:
                toks.append(random.choice(common))
        f.write(json.dumps({"text": " ".join(toks), "emotion": c}) + "\n")
json.dump(cls, open("label_map.json", "w"))
