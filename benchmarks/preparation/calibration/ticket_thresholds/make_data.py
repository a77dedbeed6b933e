import json
import random

rng = random.Random(101)
tags = ["billing", "login", "shipping", "refund", "bug", "export", "mobile", "invoice", "permissions", "latency", "upgrade", "spam", "api", "duplicate"]
stock = ["w%03d" % i for i in range(500)]
words = {t: rng.sample(stock, 8) for t in tags}
for part, n in (("train", 1100), ("dev", 240), ("final", 240)):
    with open(f"tickets_{part}.jsonl", "w") as f:
        for i in range(n):
            mine = [t for j, t in enumerate(tags) if rng.random() < 0.03 + 0.006 * j]
            toks = [rng.choice(stock) for _ in range(rng.randint(18, 40))]
            for t in mine:
                toks += [rng.choice(words[t]) for _ in range(rng.choice([1, 2, 2, 3, 4]))]
            rng.shuffle(toks)
            f.write(json.dumps({"id": f"{part}-{i}", "body": " ".join(toks), "tags": mine}) + "\n")
