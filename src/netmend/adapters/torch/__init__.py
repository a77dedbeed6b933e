"""The PyTorch adapter: hooks in, plain values out; every hook and patch is removed again."""
