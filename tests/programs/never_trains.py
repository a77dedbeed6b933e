"""No training at all: no torch, no model."""

print("hello", sum(range(10)))
