"""The proof: the program as it was and as it is patched, trained over several seeds and compared."""
