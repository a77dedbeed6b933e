"""The measures, one per file: a pure function (`MEASURE`) and examples (`EXAMPLES`) that are its tests."""
