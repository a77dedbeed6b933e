from . import NAME
from .train import main

print("package", NAME, __name__, __package__, __spec__.name)
main()
