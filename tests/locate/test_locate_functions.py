"""Functions inside the files that rank first: which evidence points at which function."""

from __future__ import annotations

from netmend.locate.bug_report import read_report
from netmend.locate.functions import FileText, agreement, rank_functions
from netmend.locate.parsing import parse
from netmend.locate.query import make_query

TRAINER = """
class Trainer:
    def __init__(self, model, rate):
        self.model = model
        self.rate = rate

    def fit(self, batches):
        for batch in batches:
            self.step(batch)

    def step(self, batch):
        out = self.model(batch)
        return out["loss"]

    def save_checkpoint(self, folder):
        if not folder.exists():
            raise ValueError(f"the checkpoint folder {folder} does not exist on this machine")
        write(folder, self.model)


class Validator:
    def step(self, batch):
        with no_gradient():
            return self.model(batch)
"""
PATH = "proj/training/trainer.py"


def ranked(report: str, most: int = 3, path: str = PATH, text: str = TRAINER) -> list[str]:
    query = make_query(read_report(report))
    found = rank_functions(query, [FileText(path, text, parse(text.encode()).definitions)], most)
    return [one.name for one in found[path]]


def test_the_innermost_frame_leads() -> None:
    trace = """Traceback (most recent call last):
  File "/usr/lib/site-packages/proj/training/trainer.py", line 108, in fit
    self.step(batch)
  File "/usr/lib/site-packages/proj/training/trainer.py", line 112, in step
    return out["loss"]
KeyError: 'loss'
"""
    query = make_query(read_report(trace))
    file = FileText(PATH, TRAINER, parse(TRAINER.encode()).definitions)
    first, second, *_ = rank_functions(query, [file])[PATH]
    assert (first.name, second.name) == ("Trainer.step", "Trainer.fit")
    # Lines of the report are of another version; the code it shows is found where it stands now.
    assert first.reasons[0].kind == "frame"
    assert first.reasons[0].line == 13
    assert "line 112" in first.reasons[0].text


def test_of_two_methods_of_one_name_the_one_with_the_shown_code_is_meant() -> None:
    trace = """Traceback (most recent call last):
  File "proj/training/trainer.py", line 3, in step
    return self.model(batch)
RuntimeError: shapes do not fit
"""
    assert ranked(trace)[0] == "Validator.step"


def test_a_named_function_is_found() -> None:
    assert (
        ranked("Saving fails\n\nI call `save_checkpoint` and nothing is written.")[0]
        == "Trainer.save_checkpoint"
    )


def test_a_message_leads_to_the_line_that_holds_it() -> None:
    text = "It ends with\n\nValueError: the checkpoint folder /tmp/x does not exist on this machine\n"
    query = make_query(read_report(text))
    file = FileText(PATH, TRAINER, parse(TRAINER.encode()).definitions)
    first = rank_functions(query, [file])[PATH][0]
    assert first.name == "Trainer.save_checkpoint"
    assert any(reason.kind == "message" and reason.line == 17 for reason in first.reasons)


def test_a_link_to_a_line_leads_there() -> None:
    report = "Rate is ignored\n\nsee https://github.com/me/proj/blob/main/proj/training/trainer.py#L5"
    query = make_query(read_report(report))
    file = FileText(PATH, TRAINER, parse(TRAINER.encode()).definitions)
    first = rank_functions(query, [file])[PATH][0]
    assert first.name == "Trainer.__init__"
    assert ("line", 5) in {(reason.kind, reason.line) for reason in first.reasons}


def test_a_method_of_the_named_class_comes_before_its_namesake() -> None:
    assert ranked("`Validator.step` forgets eval mode")[0] == "Validator.step"


def test_plain_english_is_no_name() -> None:
    # "step" and "fit" here are no functions; what is written about is the checkpoint.
    report = "First step: make the checkpoint folder fit on disk\n\nThe checkpoint folder is not written."
    assert ranked(report)[0] == "Trainer.save_checkpoint"


def test_nothing_is_ranked_where_nothing_points_anywhere() -> None:
    assert ranked("Zugriff verweigert\n\nqwxyz") == []


def test_no_more_than_asked_for() -> None:
    assert len(ranked("Trainer model batch folder", most=2)) == 2


def test_a_file_without_functions() -> None:
    assert ranked("Trainer model", text="RATE = 1\n") == []


def test_source_that_does_not_parse_is_ranked_all_the_same() -> None:
    old = "class Loader:\n    def read(self, name):\n        print 'reading', name\n\n    def close(self):\n        pass\n"
    assert ranked("`Loader.close` hangs", text=old)[0] == "Loader.close"


def test_which_printed_path_is_a_file() -> None:
    installed = "/usr/lib/python3/site-packages/proj/training/trainer.py"
    assert agreement("proj/training/trainer.py", installed) == 3
    assert agreement("src/proj/training/trainer.py", installed) == 3
    assert agreement("proj/training/trainer.py", "C:\\work\\proj\\training\\trainer.py") == 3
    assert agreement("proj/training/trainer.py", "/home/me/old_name/training/trainer.py") == 2
    assert agreement("proj/training/trainer.py", "trainer.py") == 1
    assert agreement("proj/training/trainer.py", "/usr/lib/site-packages/other/training/trainer.py") == 0
    assert agreement("proj/training/trainer.py", "/home/me/trainer.py") == 0
    assert agreement("proj/training/trainer.py", "proj/training/my_trainer.py") == 0
    assert agreement("proj/asyncio/events.py", "/usr/lib/python3.11/asyncio/events.py") == 0
