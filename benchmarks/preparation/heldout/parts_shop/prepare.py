import csv
from dataclasses import dataclass

MATERIALS = ["steel", "brass", "nylon", "rubber"]
MAKERS = ["Orvin", "Teklo", "Barsa", "Kumi", "Halden"]


@dataclass
class Part:
    weight: float
    length: float
    material: str

    def vector(self):
        return [self.weight / 500 - 1, self.length / 200 - 1] + [float(self.material == m) for m in MATERIALS]


def read_rows(path):
    with open(path, newline="") as fh:
        yield from csv.DictReader(fh)


def read_catalogue(path="catalogue.csv"):
    parts = {}
    for row in read_rows(path):
        part = Part(float(row["weight_g"]), float(row["length_mm"]), row["material"])
        parts[row["part_no"]] = part
    return parts


def read_orders(path="orders.csv", catalogue=None):
    xs, ys, skipped = [], [], 0
    for row in read_rows(path):
        part = catalogue.get(row["part_no"])
        if part is None:
            skipped += 1
            continue
        maker = [float(row["maker"] == m) for m in MAKERS]
        xs.append(part.vector() + maker + [int(row["qty"]) / 10 - 1, float(row["express"])])
        ys.append(float(row["late"]))
    print(f"orders used: {len(xs)}, without catalogue entry: {skipped}")
    return xs, ys
