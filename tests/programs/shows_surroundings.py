"""Prints what a script can see of the way it was started."""

import os
import sys
import threading

print("argv", sys.argv)
print("name", __name__, "file", __file__, "package", __package__, "spec", __spec__, "doc", __doc__)
print("loader", type(__loader__).__name__)
print("path[0]", sys.path[0])
print("orig executable", os.path.basename(sys.executable))
print("cwd", os.getcwd())
print("main", sys.modules["__main__"].__dict__ is globals())
print("globals", sorted(n for n in globals() if n.startswith("__")), __cached__)
print("builtins", __builtins__ is sys.modules["builtins"])
print(
    "flags", sys.flags.optimize, sys.flags.dev_mode, sys.gettrace(), sys.getprofile(), sys.getrecursionlimit()
)
print("streams", type(sys.stdout).__name__, sys.stdout.encoding, sys.stdout.line_buffering, sys.stdout.name)
print("threads", threading.current_thread().name, threading.active_count())
print("torch loaded before asked for", "torch" in sys.modules)
print("environment", sorted(k for k in os.environ if "NETMEND" in k))
