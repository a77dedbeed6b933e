import random

random.seed(38)
ASK = ["where is my parcel", "the app crashed again", "i was charged twice", "can you change my address", "the lamp arrived broken"]
FILL = ["ok", "let me check", "one moment please", "thank you for waiting", "could you send a picture", "here is the number", "i looked it up", "it says in transit", "the system is slow today", "i see", "and then", "hm", "sure", "we had this last week"]
END = {"solved": ["great that works now", "perfect thanks a lot", "it is fixed thank you", "yes i can see it now good"],
       "open": ["still nothing i will write again", "no it is the same as before", "please call me tomorrow then", "i will wait for the answer"],
       "cancelled": ["then please cancel the order", "i want my money back", "close my account please", "send it back i am done"]}
with open("chats.tsv", "w") as f:
    for i in range(1000):
        k = random.choice(list(END))
        turns = [random.choice(ASK)] + [random.choice(FILL) for _ in range(random.randint(6, 26))]
        if random.random() < 0.4:
            turns.insert(random.randint(1, 3), random.choice(END[random.choice(list(END))]))
        turns += [random.choice(END[k])] + ([random.choice(["bye", "have a nice day"])] if random.random() < 0.5 else [])
        f.write(f"{k}\t{' / '.join(turns)}\n")
