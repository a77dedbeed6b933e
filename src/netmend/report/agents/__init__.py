"""Mutation testing of agents, shown."""
