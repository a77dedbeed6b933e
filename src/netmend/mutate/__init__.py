"""Mutation: seeding known faults into a training program by small edits of its source."""
