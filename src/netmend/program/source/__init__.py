"""Finding and changing source: nodes by sites, edits, names, values followed to where they are set."""
