"""What a program runs on: versions, devices, limits, data; and combinations known not to work."""
