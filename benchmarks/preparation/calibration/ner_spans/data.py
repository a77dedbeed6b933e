import json
import re

TAGS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"]
WORD = re.compile(r"\w+|[^\w\s]")


def clean(text):
    return re.sub(r"\s+", " ", text).strip()


def load(path):
    examples = []
    with open(path) as fh:
        for line in fh:
            rec = json.loads(line)
            rec["text"] = clean(rec["text"])
            examples.append(tag(rec))
    return examples


def tag(rec):
    words, tags = [], []
    for m in WORD.finditer(rec["text"]):
        t = "O"
        for e in rec["entities"]:
            if e["start"] <= m.start() < e["end"]:
                t = ("B-" if m.start() == e["start"] else "I-") + e["label"]
        words.append(m.group())
        tags.append(TAGS.index(t))
    return {"words": words, "tags": tags, "gold": sorted((e["surface"], e["label"]) for e in rec["entities"])}


def shape(word):
    return ("A" if word[0].isupper() else "a") + word[-2:].lower()


def vocabulary(examples):
    words = {"<pad>": 0, "<unk>": 1}
    shapes = {"<pad>": 0, "<unk>": 1}
    for ex in examples:
        for w in ex["words"]:
            words.setdefault(w, len(words))
            shapes.setdefault(shape(w), len(shapes))
    return words, shapes
