"""Session: files in, an Outcome out. Knows the order of things: cache, processes, comments, names for people."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from netmend.check.cache import Cache, cache_file
from netmend.check.discover import Exclusion, discover
from netmend.check.outcome import Outcome
from netmend.check.progress import Progress
from netmend.check.results import FileResult
from netmend.check.select import UNUSED, Selection, choose, known_rules, split_choices
from netmend.check.suppress import Suppression, settle
from netmend.config import CheckSettings, project_root
from netmend.vocabulary.finding import Finding

if TYPE_CHECKING:
    from netmend.check.checker import Checker

PROCESSES_FROM = 64  # files to look into; fewer are done before a second process has started
FILE_SECONDS = 60.0  # for one file; 50,000 lines take a few seconds


@dataclass(frozen=True)
class CheckOptions:
    """What to look for, where not to look, and how."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    root: str = ""  # folder that patterns count from
    force_exclude: bool = False
    jobs: int | None = None  # processes; None: as many as there are processors
    cache: bool = True
    cache_folder: Path | None = None
    seconds: float = FILE_SECONDS
    preview: bool = False  # rules that no program outside their own examples has shown right yet

    @staticmethod
    def of(
        settings: CheckSettings,
        select: str | Sequence[str] = (),
        ignore: str | Sequence[str] = (),
        extend_select: str | Sequence[str] = (),
    ) -> CheckOptions:
        """Choices over a configuration: `select` replaces what stands there, the others add."""
        return CheckOptions(
            split_choices(select) or settings.select,
            split_choices(ignore) + settings.ignore,
            split_choices(extend_select) + settings.extend_select,
            settings.per_file_ignores,
            settings.exclude,
            settings.folder,
        )


class Session:
    """Checks again and again with the same options; what did not change is not looked into twice."""

    def __init__(self, paths: Sequence[str], options: CheckOptions, progress: Progress | None = None) -> None:
        self.paths = tuple(paths)
        self.options = options
        self.exclude = Exclusion(options.exclude, options.root)
        self._progress = progress or Progress(None)
        self._checker: Checker | None = None
        self._cache = Cache(self._cache_place())
        self._results: dict[str, FileResult] = {}

    def _cache_place(self) -> Path | None:
        options = self.options
        if not options.cache:
            return None
        start = Path(self.paths[0]) if self.paths else Path.cwd()
        folder = options.cache_folder or project_root(start) / ".netmend" / "cache"
        files = {pattern: list(codes) for pattern, codes in options.per_file_ignores.items()}
        choices = [
            options.select,
            options.ignore,
            options.extend_select,
            options.preview,
            files,
            options.root,
        ]
        return cache_file(folder, choices)

    @property
    def selection(self) -> Selection:
        """The rules that are on. From the cache where it knows: then no rule has to be loaded."""
        options = self.options
        if self._cache.selection is None:
            self._cache.selection = choose(
                known_rules(options.preview),
                options.select,
                options.ignore,
                options.extend_select,
                options.per_file_ignores,
                options.root,
            )
        return self._cache.selection

    @property
    def checker(self) -> Checker:
        """Loads the rules when first used."""
        if self._checker is None:
            from netmend.check.checker import Checker

            self._checker = Checker(self.selection, self.options.seconds)
        return self._checker

    def files(self) -> list[str]:
        return discover(self.paths, self.exclude, self.options.force_exclude)

    def run(self) -> Outcome:
        """Every file that is there now."""
        started = time.perf_counter()
        files = self.files()
        self._cache.begin()
        results: dict[str, FileResult] = {}
        changed: list[str] = []
        for file in files:
            known = self._cache.get(file)
            if known is None:
                changed.append(file)
            else:
                results[file] = known
        if changed:
            self._look_into(changed, results)
            self._cache.save()
        self._results = {file: results[file] for file in files if file in results}
        return replace(
            self.outcome(self._results),
            seconds=time.perf_counter() - started,
            cached=len(files) - len(changed),
        )

    def _look_into(self, files: list[str], results: dict[str, FileResult]) -> None:
        progress = self._progress
        progress.begin(len(files))

        def tell(file: str, result: FileResult) -> None:
            results[file] = result
            self._cache.put(file, result)
            progress.step()

        try:
            jobs = self.options.jobs or os.cpu_count() or 1
            if jobs > 1 and len(files) >= PROCESSES_FROM and sys.executable:
                from netmend.check.pool import Pool

                # A wrong choice of rules is to be told before processes start.
                files = Pool(jobs, self.selection, self.options.seconds).run(files, tell)
            if files:
                self._one_by_one(files, tell)
        finally:
            progress.end()

    def _one_by_one(self, files: Iterable[str], tell: Callable[[str, FileResult], None]) -> None:
        from netmend.check.checker import rare_collections

        checker = self.checker
        checker.forget_project()
        with rare_collections() as collect:
            for file in files:
                tell(file, checker.check(file))
                collect()

    def outcome(self, results: Mapping[str, FileResult]) -> Outcome:
        """Results of files as one: comments weighed across them, in order, with names as people write them."""
        selection = self.selection
        comments = {file: result.comments for file, result in results.items() if result.comments}
        unique: dict[tuple[str, int, int, int, str], Finding] = {}
        for result in results.values():
            for finding in result.findings:
                if self._counts(finding, results, selection):
                    key = (finding.file, finding.cell or 0, finding.line, finding.column, finding.code)
                    unique.setdefault(key, finding)
                    if finding.file not in results and finding.file not in comments:
                        comments[finding.file] = self._comments(finding.file)
        checked = [file for file in comments if file in results]
        kept = settle(unique.values(), comments, checked, UNUSED in selection.codes)
        return Outcome(
            tuple(sorted(map(named, kept), key=order)),
            tuple((shown(file), result.problem) for file, result in results.items() if result.problem),
            tuple((shown(file), failure) for file, result in results.items() for failure in result.failures),
            len(results),
            checked=sum(not result.problem or result.partly for result in results.values()),
            names=tuple(map(shown, results)),
        )

    def _counts(self, finding: Finding, results: Mapping[str, FileResult], selection: Selection) -> bool:
        """A finding in a file that was only followed counts, unless that file is excluded or has the rule off."""
        if finding.file in results:
            return not selection.per_file or finding.code not in selection.off(finding.file)
        return not self.exclude(finding.file) and finding.code not in selection.off(finding.file)

    def _comments(self, file: str) -> tuple[Suppression, ...]:
        return self.checker.comments_of(file)

    def followed(self) -> frozenset[str]:
        """Files that findings of the last round rest on."""
        return frozenset(read for result in self._results.values() for read in result.reads)

    def entangled(self, file: str) -> bool:
        """Whether findings in a file come from checking another: its comments cannot be judged alone."""
        return any(
            finding.file == file
            for other, result in self._results.items()
            if other != file
            for finding in result.findings
        )


def check_paths(paths: Sequence[str], options: CheckOptions | None = None) -> Outcome:
    """Check files and folders once."""
    return Session(paths, options or CheckOptions()).run()


def shown(file: str) -> str:
    """A path as people write it: from the working directory where it lies below."""
    here = os.getcwd()  # noqa: PTH109
    inside = file.startswith(here + os.sep)
    return (file[len(here) + 1 :] if inside else file).replace(os.sep, "/")


def named(finding: Finding) -> Finding:
    related = tuple(replace(place, file=shown(place.file)) for place in finding.related)
    return replace(finding, file=shown(finding.file), related=related)


def order(finding: Finding) -> tuple[str, int, int, int, str]:
    return finding.file, finding.cell or 0, finding.line, finding.column, finding.code
