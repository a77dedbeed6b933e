"""Generators of test environments: from which starts an agent is tested."""
