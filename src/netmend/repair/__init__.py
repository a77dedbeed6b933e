"""From causes to changes of the program: what could be altered, and which alteration makes it learn."""
