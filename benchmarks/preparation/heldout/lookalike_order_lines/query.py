import sqlite3

import numpy as np

LINES_WITH_ORDER = """
    SELECT l.order_id, o.km, o.hours, o.cooled, l.kg, l.fragile, l.stacked, l.damaged
    FROM orders AS o
    JOIN lines AS l ON l.order_id = o.order_id
    ORDER BY l.line_id
"""


def fetch(path="warehouse.db"):
    con = sqlite3.connect(path)
    try:
        n_orders = con.execute("SELECT COUNT(*) FROM orders").fetchone()[0]
        rows = np.array(con.execute(LINES_WITH_ORDER).fetchall(), dtype=np.float32)
    finally:
        con.close()
    print(f"{n_orders} orders, {len(rows)} rows after the join")
    return rows[:, 0].astype(int), rows[:, 1:-1], rows[:, -1]
