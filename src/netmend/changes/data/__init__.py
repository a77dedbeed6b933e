"""The data in the source: where it is made, ordered, prepared."""
