import json
import random

rng = random.Random(7)
first = ["mara", "tilo", "ines", "oskar", "petra", "yusuf", "lena", "marek", "nadia", "bruno"]
places = ["harbour", "northgate", "oldtown", "riverside", "hillcrest", "westend", "parkside"]
fill = ["please", "send", "the", "parcel", "to", "from", "and", "call", "before", "noon", "near", "with", "new", "order", "again", "for", "at", "ask", "door", "gate"]
out = []
for _ in range(1000):
    toks, tags = [], []
    for _ in range(rng.choice([4, 6, 8, 12, 30])):
        r = rng.random()
        if r < 0.12:
            toks.append(rng.choice(first)); tags.append("PER")
        elif r < 0.22:
            toks.append(rng.choice(places)); tags.append("LOC")
        elif r < 0.30:
            toks += [rng.choice(["order", "parcel"]), str(rng.randint(100, 999))]; tags += ["O", "NUM"]
        else:
            w = rng.choice(fill)
            if tags and tags[-1] == "O" and toks[-1] in ("to", "at") and rng.random() < 0.6:
                toks.append(rng.choice(fill[12:])); tags.append("LOC")
            else:
                toks.append(w); tags.append("O")
    out.append({"tokens": toks, "tags": tags})
json.dump(out, open("notes.json", "w"))
