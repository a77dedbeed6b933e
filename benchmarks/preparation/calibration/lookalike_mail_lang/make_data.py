import json
import random

random.seed(3)
open_ = {"dutch": ["geachte heer", "beste mevrouw", "hallo allemaal", "goedemorgen"], "german": ["sehr geehrte frau", "guten tag", "lieber kollege", "hallo zusammen"],
         "spanish": ["estimada doctora", "buenos dias", "hola a todos", "querido amigo"], "italian": ["gentile signora", "buongiorno", "ciao a tutti", "caro collega"]}
syl = {"dutch": "ij een het van de gaan oor ge lijk sch voor we aan".split(), "german": "ich ein und der die sch ung ver wir auf zu ge tz".split(),
       "spanish": "el que los ion ado cia un es la per con dad mos".split(), "italian": "il che gli zione ato una di sti per con ita mo tto".split()}
quote = ["-----Original Message-----", "From: office", "please see below", "kind regards", "this mail may be confidential", "sent from my phone"]
with open("mails.jsonl", "w") as f:
    for _ in range(2000):
        lang = random.choice(list(syl))
        body = random.choice(open_[lang]) + " " + " ".join("".join(random.choices(syl[lang], k=random.randint(1, 3))) for _ in range(random.randint(6, 14)))
        tail = " ".join(random.choices(quote, k=random.randint(2, 6)))
        other = random.choice(list(syl))
        tail += " " + " ".join("".join(random.choices(syl[other], k=2)) for _ in range(random.randint(10, 40)))
        f.write(json.dumps({"text": body + "\n" + tail, "lang": lang}) + "\n")
