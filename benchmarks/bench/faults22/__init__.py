"""The 22-fault benchmark: its published facts, and PyTorch programs written from them."""
