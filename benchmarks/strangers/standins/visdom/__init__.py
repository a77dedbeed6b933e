"""A plot server that nobody looks at."""


class Visdom:
    def __init__(self, *args, **options):
        pass

    def __getattr__(self, name):
        return lambda *args, **options: None
