import random
import sqlite3
import os

random.seed(12)
if os.path.exists("tickets.db"):
    os.remove("tickets.db")
greet = "hello team good morning dear support hi there i hope you are well thank you for the quick help last time".split()
filler = "my account since yesterday the app on phone and laptop tried again restart still same as before please customer number order weeks ago maybe also then when after the update i noticed that it".split()
queues = {"billing": "invoice charged refund twice payment vat card amount receipt overcharged".split(),
          "login": "password locked reset twofactor code signin expired credentials forgotten username".split(),
          "shipping": "parcel courier delayed tracking depot damaged address delivery missing label".split(),
          "bug": "crash freeze exception blank screen button stacktrace glitch error broken".split()}
con = sqlite3.connect("tickets.db")
con.execute("CREATE TABLE tickets (id INTEGER PRIMARY KEY, body TEXT, queue TEXT)")
for i in range(3000):
    q = random.choice(list(queues))
    head = random.choices(greet, k=random.randint(5, 12)) + random.choices(filler, k=random.randint(10, 30))
    for _ in range(random.randint(0, 2)):
        head.insert(random.randint(0, len(head)), random.choice(queues[q if random.random() < 0.5 else random.choice(list(queues))]))
    ask = []
    for _ in range(random.randint(6, 12)):
        ask.append(random.choice(queues[q]) if random.random() < 0.4 else random.choice(filler))
    con.execute("INSERT INTO tickets (body, queue) VALUES (?, ?)", (" ".join(head) + ". so my question: " + " ".join(ask) + "?", q))
con.commit()
con.close()
