"""`netmend bench`: published fault-localisation benchmarks, run and scored by one command."""
