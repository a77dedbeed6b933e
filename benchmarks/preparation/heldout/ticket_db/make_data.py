import os
import random
import sqlite3

random.seed(21)
words = {
    "billing": "invoice refund charge card payment price receipt tax".split(),
    "network": "router wifi signal cable outage slow dropped connection".split(),
    "account": "password login email username locked reset profile access".split(),
    "delivery": "parcel courier address late tracking box damaged missing".split(),
}
common = "hello please help my the since yesterday again need it is not with thanks team still".split()
if os.path.exists("support.db"):
    os.remove("support.db")
con = sqlite3.connect("support.db")
con.execute("CREATE TABLE tickets (id INTEGER PRIMARY KEY, opened TEXT, body TEXT, queue TEXT)")
con.execute("CREATE INDEX ix_tickets_queue ON tickets(queue)")
for i in range(2400):
    q = random.choice(list(words))
    body = random.choices(common, k=random.randint(5, 10)) + random.choices(words[q], k=random.randint(1, 3))
    if random.random() < 0.25:
        body += random.choices(words[random.choice(list(words))], k=1)
    random.shuffle(body)
    con.execute("INSERT INTO tickets (opened, body, queue) VALUES (?,?,?)",
                (f"2023-{1 + i % 12:02d}-{1 + i % 28:02d}", " ".join(body), q))
con.commit()
con.close()
