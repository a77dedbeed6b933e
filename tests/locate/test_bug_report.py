"""Bug reports taken apart: every format of stack trace, markup, versions, paths and modules."""

from __future__ import annotations

import pytest

from netmend.errors import UsageError
from netmend.locate.bug_report import read_report
from netmend.locate.bug_report_mentions import Place

CPYTHON = """Traceback (most recent call last):
  File "train.py", line 14, in <module>
    main()
  File "/home/me/proj/models/net.py", line 7, in forward
    return self.fc(x)
           ~~~~~~~^^^
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 5x2)
"""


def test_a_trace_alone_is_a_report() -> None:
    report = read_report(CPYTHON)
    (trace,) = report.traces
    assert [(frame.path, frame.line, frame.function) for frame in trace] == [
        ("train.py", 14, "<module>"),
        ("/home/me/proj/models/net.py", 7, "forward"),
    ]
    assert trace[-1].code == "return self.fc(x)"
    assert report.failures[0].kind == "RuntimeError"
    assert report.title.startswith("RuntimeError: mat1 and mat2 shapes")
    assert report.prose == ""


def test_markdown_with_heading_fence_and_form_text() -> None:
    report = read_report(
        "# Loss is NaN with AMP\n\n<!-- delete this -->\n**Describe the bug**\nA clear and concise description of what the bug is.\n"
        "The scaler skips every step.\n\n```python\nfrom torch.cuda import amp\nscaler = amp.GradScaler()\n```\n"
    )
    assert report.title == "Loss is NaN with AMP"
    assert "The scaler skips every step." in report.prose
    assert "clear and concise" not in report.prose and "delete this" not in report.prose
    assert report.code == ("from torch.cuda import amp\nscaler = amp.GradScaler()",)
    assert {"torch.cuda", "torch.cuda.amp", "torch.cuda.amp.GradScaler"} <= set(report.modules)


def test_denchmark_markup() -> None:
    report = read_report(
        " <denchmark-h:h2>Description</denchmark-h>\n \n Fails, see <denchmark-link:https://github.com/a/b/blob/0123abc/src/pkg/loop.py#L31-L40>here</denchmark-link>\n"
        " <denchmark-code>x = make(3)\n y = 4\n </denchmark-code>\n after",
        "it fails",
    )
    assert report.title == "it fails"
    assert report.code == ("x = make(3)\ny = 4",)
    assert "denchmark" not in report.prose and "after" in report.prose
    assert report.paths == ("src/pkg/loop.py",)
    assert report.places == (Place("src/pkg/loop.py", 31),)


def test_code_that_lost_its_fence_is_still_code() -> None:
    report = read_report(
        "It crashes when I do this:\nimport torch\nnet = torch.nn.Linear(3, 4)\nnet(torch.ones(2, 5))\nWhy is that?",
        "crash",
    )
    assert report.prose.splitlines() == ["It crashes when I do this:", "Why is that?"]
    assert "net(torch.ones(2, 5))" in report.code[0]


def test_ipython_old_and_new() -> None:
    old = read_report(
        "ValueError                                Traceback (most recent call last)\n"
        "<ipython-input-5-f7e> in <module>()\n      1 a = 1\n----> 2 net(a)\n\n"
        "/usr/lib/python3.6/site-packages/pkg/my file.py in __call__(self, data)\n"
        "    100     subject = copy(data)\n--> 102     return self.apply(subject)\n    103 \n    104     more()\n\n"
        "ValueError: too bad\n"
    )
    (trace,) = old.traces
    assert [(frame.path, frame.line, frame.function) for frame in trace] == [
        ("<ipython-input-5-f7e>", 2, "<module>"),
        ("/usr/lib/python3.6/site-packages/pkg/my file.py", 102, "__call__"),
    ]
    assert trace[1].code == "return self.apply(subject)"
    assert [(failure.kind, failure.message) for failure in old.failures] == [("ValueError", "too bad")]
    new = read_report(
        "KeyError                Traceback (most recent call last)\nCell In[3], line 1\n----> 1 run()\n\n"
        "File ~/proj/a.py:12, in run(x, y)\n     11 def run():\n---> 12     return d['k']\n\nKeyError: 'k'\n"
    )
    assert [(frame.path, frame.line, frame.function) for frame in new.traces[0]] == [
        ("Cell In[3]", 1, None),
        ("~/proj/a.py", 12, "run"),
    ]


def test_pytest_long_and_short() -> None:
    report = read_report(
        "    def test_it():\n>       run(3)\n\ntests/test_a.py:9: \n_ _ _ _ _\n\n    def run(x):\n>       raise ValueError('no')\nE       ValueError: no\n\nsrc/pkg/a.py:4: ValueError\n"
    )
    frames = [frame for trace in report.traces for frame in trace]
    assert [(frame.path, frame.line) for frame in frames] == [("tests/test_a.py", 9), ("src/pkg/a.py", 4)]
    assert frames[0].code == "run(3)"
    short = read_report(
        "tests/test_a.py:9: in test_it\n    run(3)\nsrc/pkg/a.py:4: in run\n    raise ValueError('no')\nE   ValueError: no\n"
    )
    assert [(frame.line, frame.function, frame.code) for frame in short.traces[0]] == [
        (9, "test_it", "run(3)"),
        (4, "run", "raise ValueError('no')"),
    ]


def test_chained_traces_are_told_apart() -> None:
    report = read_report(
        CPYTHON
        + "\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
        '  File "a.py", line 3, in f\n    g()\nqueue.Empty\n'
    )
    assert [len(trace) for trace in report.traces] == [2, 1]
    assert [failure.kind for failure in report.failures] == ["RuntimeError", "queue.Empty"]


def test_ray_and_native_frames_between() -> None:
    report = read_report(
        '(pid=250) \x1b[36mray::ImplicitFunc.train()\x1b[39m (pid=250, ip=1.2.3.4)\n(pid=250)   File "python/ray/_raylet.pyx", line 484, in ray._raylet.execute_task\n'
        '(pid=250)   File "/x/ray/tune/trainable.py", line 336, in train\n(pid=250)     result = self.step()\n(pid=250) ray.tune.error.TuneError: Trial failed\n'
        "frame #0: c10::Error::Error(c10::SourceLocation) + 0x33 (0x7f in /lib/libc10.so)\nterminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: out of memory\n"
    )
    assert [frame.function for frame in report.traces[0]] == ["ray._raylet.execute_task", "train"]
    assert report.traces[0][1].code == "result = self.step()"
    assert ("ray.tune.error.TuneError", "Trial failed") in [
        (one.kind, one.message) for one in report.failures
    ]
    assert any("CUDA error: out of memory" in failure.message for failure in report.failures)
    assert "libc10" not in report.prose


def test_innermost_frame_is_last_whatever_was_printed() -> None:
    crash = read_report(
        'Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n  File "/x/inner.py", line 5 in deep\n  File "/x/outer.py", line 9 in <module>\n'
    )
    assert [frame.function for frame in crash.traces[0]] == ["<module>", "deep"]


def test_autograph_and_warnings() -> None:
    report = read_report(
        "    /usr/lib/python3/keras/engine/training.py:806 train_function  *\n        return step_function(self, iterator)\n\n    ValueError: Shapes differ\n"
        "/x/pkg/loss.py:31: UserWarning: Using a target size that differs\n  return f(x)\n"
    )
    assert report.traces[0][0].function == "train_function"
    assert report.traces[1][0].path == "/x/pkg/loss.py"
    assert ("UserWarning", "Using a target size that differs") in [
        (one.kind, one.message) for one in report.failures
    ]


def test_a_trace_whose_line_breaks_were_lost() -> None:
    report = read_report(
        'Traceback (most recent call last): File "a.py", line 1, in <module> main() File "b/c.py", line 22, in main raise ValueError("x") ValueError: x'
    )
    assert [(frame.path, frame.line) for frame in report.traces[0]] == [("a.py", 1), ("b/c.py", 22)]
    escaped = read_report(
        r'log: {"err": "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nKeyError: 3"}'
    )
    assert escaped.traces[0][0].path == "a.py"


def test_long_messages_go_on() -> None:
    report = read_report(
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\nRuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "fc.weight".\nThanks!'
    )
    assert 'Missing key(s) in state_dict: "fc.weight"' in report.failures[0].message
    assert report.prose == "Thanks!"


def test_versions() -> None:
    report = read_report(
        "OS: Ubuntu 18.04\nPyTorch Version (e.g., 1.0): 1.6.0\nPython version: 3.7.3\nCUDA/cuDNN version: 10.1\npip freeze:\nnumpy==1.19.2\ntorchvision               0.7.0\nworks with tensorflow-gpu 2.0.0 on Windows 10",
        "t",
    )
    assert dict(report.versions) == {
        "ubuntu": "18.04",
        "torch": "1.6.0",
        "python": "3.7.3",
        "cuda": "10.1",
        "numpy": "1.19.2",
        "torchvision": "0.7.0",
        "tensorflow": "2.0.0",
        "windows": "10",
    }


def test_paths_places_and_modules() -> None:
    report = read_report(
        r"In pkg\sub\a.py and `configs/x.yaml` and utils.py:44, see https://example.com/other/page.py . Also pkg.sub.helper.run and python -m pkg.tool; e.g. self.net.x",
        "t",
    )
    assert report.paths == ("pkg/sub/a.py", "configs/x.yaml", "utils.py")
    assert report.places == (Place("utils.py", 44),)
    assert "pkg.sub.helper.run" in report.modules and "pkg.tool" in report.modules
    assert not any(name.startswith(("self", "e.g")) for name in report.modules)


def test_imports_as_other_names_are_resolved() -> None:
    report = read_report("```\nimport pkg.layers as L\nL.Attention(4)\nnp.ones(3)\n```", "t")
    assert "pkg.layers.Attention" in report.modules and "numpy.ones" in report.modules


@pytest.mark.parametrize("text", ["", "  \n\t\n"])
def test_empty_report(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        read_report(text)


def test_other_languages_and_odd_input() -> None:
    assert read_report("訓練が失敗する\n\nモデルを保存できません").title == "訓練が失敗する"
    assert read_report("`" * 3).text == "`" * 3
    huge = read_report(
        "x" * 3_000_000 + '\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n'
    )
    assert huge.failures[0].kind == "KeyError"


def test_first_line_is_the_title_only_if_it_stands_apart() -> None:
    assert read_report("Crash on save\n\nIt crashes.").title == "Crash on save"
    report = read_report("I was training a net and\nit crashed.")
    assert report.title == "I was training a net and"
    assert "it crashed." in report.prose
    assert read_report("title:\tBad thing\nstate:\tOPEN\n--\nbody").title == "Bad thing"
