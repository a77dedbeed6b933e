import random

random.seed(21)


def de(v, nd):
    s = f"{v:.{nd}f}".rstrip("0").rstrip(".")
    return s.replace(".", ",")


with open("zaehler.csv", "w", encoding="utf-8") as f:
    f.write("ID;Vorlauf;Ruecklauf;Durchfluss;Flaeche;Baujahr;kWh\n")
    for i in range(2600):
        vor = random.gauss(68, 7)
        rue = vor - random.uniform(8, 32)
        q = random.uniform(0.08, 2.4)
        area = random.choice([48.5, 56.25, 63, 71.4, 88.75, 102, 120.5]) + random.choice([0, 0.5, 1.25])
        year = random.randint(1955, 2021)
        kwh = 1.16 * q * (vor - rue) * (24 + (2021 - year) * 0.09) / 10 + 0.5 * area + random.gauss(0, 4)
        f.write(f"{10000 + i};{de(vor, 1)};{de(rue, 1)};{de(q, 3)};{de(area, 2)};{year};{round(kwh)}\n")
