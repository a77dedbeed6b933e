import json
import random

rng = random.Random(77)
cons, vow = "bcdfgklmnprstvz", "aeiou"


def word():
    return "".join(rng.choice(cons) + rng.choice(vow) for _ in range(rng.choice([2, 2, 3])))


common = list({word() for _ in range(260)})
pool = list({word() for _ in range(900)} - set(common))
paid_words, free_words = common[:30], common[30:60]
posts = []
for u in range(110):
    plan = "paid" if rng.random() < 0.5 else "free"
    own = rng.sample(pool, 14)
    lean = paid_words if plan == "paid" else free_words
    for p in range(rng.randint(9, 16)):
        toks = []
        for _ in range(rng.randint(10, 26)):
            r = rng.random()
            toks.append(rng.choice(own) if r < 0.28 else rng.choice(lean) if r < 0.36 else rng.choice(common))
        toks[0] = toks[0].capitalize()
        posts.append({"post_id": f"{u:04d}-{p}", "user": f"member{u * 37 % 997:03d}", "text": " ".join(toks) + ".", "plan": plan})
rng.shuffle(posts)
with open("posts.jsonl", "w") as f:
    for p in posts:
        f.write(json.dumps(p) + "\n")
