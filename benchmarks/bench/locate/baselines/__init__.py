"""Published techniques of locating files, re-implemented to be measured on the same reports; used by the benchmark only."""
