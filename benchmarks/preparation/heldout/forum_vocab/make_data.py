import json
import random

rnd = random.Random(33)
topic_words = {
    "bikes": "gear chain saddle brake pedal wheel tyre hub frame fork".split(),
    "cooking": "oven flour butter simmer garlic knife dough spice pan roast".split(),
    "astronomy": "telescope comet orbit lens galaxy eclipse nebula planet star mount".split(),
}
filler = ("i the a my with and for it has anyone tried new old good bad first time help question today "
          "really think about how why best cheap after before always never week month").split()


def post():
    t = rnd.choice(list(topic_words))
    ws = rnd.choices(filler, k=rnd.randint(8, 14)) + rnd.choices(topic_words[t], k=rnd.randint(1, 3))
    if rnd.random() < 0.2:
        ws += rnd.choices(topic_words[rnd.choice(list(topic_words))], k=1)
    rnd.shuffle(ws)
    return {"text": " ".join(ws), "topic": t}


for name, n in (("train.jsonl", 1500), ("valid.jsonl", 400)):
    with open(name, "w") as f:
        for _ in range(n):
            f.write(json.dumps(post()) + "\n")
