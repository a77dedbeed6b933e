import datetime as dt
import math
import random

random.seed(36)


def de(v, nd=1):
    s = f"{v:,.{nd}f}"
    return s.replace(",", "_").replace(".", ",").replace("_", ".")


with open("LOGGER_07.TXT", "w", encoding="latin-1") as f:
    f.write("Gewächshaus 7 / Gerät 1188\r\nZeit; T aussen (°C); Strahlung (Wh/m²); Fenster (%); T innen (°C)\r\n")
    t = dt.datetime(2022, 3, 1)
    for i in range(2400):
        doy = t.timetuple().tm_yday
        sun = max(0, math.sin(math.pi * (t.hour - 5) / 15)) * (1100 + 500 * math.sin(2 * math.pi * (doy - 80) / 365)) * random.uniform(0.4, 1)
        out = 9 + 9 * math.sin(2 * math.pi * (doy - 110) / 365) + 4 * math.sin(2 * math.pi * (t.hour - 9) / 24) + random.gauss(0, 1.5)
        win = random.choice([0, 0, 25, 50, 100])
        ins = out + 0.011 * sun * (1 - 0.006 * win) + 3 + random.gauss(0, 0.5)
        f.write(f"{t:%d.%m.%y %H:%M};{de(out)};{de(sun)};{win};{de(ins)}\r\n")
        t += dt.timedelta(hours=3)
