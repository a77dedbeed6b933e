"""docs/benchmark.md from the result files: one module per group of sections, each turns results into what the template shows."""
