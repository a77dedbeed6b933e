"""One rule per file, named like its class; `S` and three digits, the first for the family."""
