"""`netmend bench`: its commands, their options and what they print."""
