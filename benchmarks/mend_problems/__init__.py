"""Faulty classifiers for the study of mending."""
