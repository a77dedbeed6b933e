"""`python -m netmend` is the command `netmend`."""

from netmend.cli import main

main()
