"""Facts about libraries that rules rely on: names, versions, sizes of well-known data sets."""
