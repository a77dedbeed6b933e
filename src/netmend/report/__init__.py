"""Reports: a result in, text for people or files for tools out. Nothing here measures or judges."""
