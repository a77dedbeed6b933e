import json
import random

random.seed(57)
GOOD = "crisp warm friendly bright quick tidy fresh generous".split()
BAD = "stale cold rude dim slow dirty bland noisy".split()
REST = "the table window soup waiter bread evening music bill was and a we had with very came our from".split()
os_rows = []
for i in range(1400):
    y = random.random() < 0.5
    n = random.randint(5, 45)
    words = random.choices(REST, k=n)
    for _ in range(1 + n // 8):
        pool = (GOOD if y else BAD) if random.random() < 0.88 else (BAD if y else GOOD)
        words[random.randrange(n)] = random.choice(pool)
    os_rows.append({"review": " ".join(words), "stars": random.choice([4, 5]) if y else random.choice([1, 2])})
with open("reviews.json", "w") as f:
    json.dump(os_rows, f)
