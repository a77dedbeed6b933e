"""Watching how data are made: the calls of pandas, NumPy, PIL, … that the user's own lines make, and what each did to the data.

Nothing is imported here that the program has not imported itself.
"""
