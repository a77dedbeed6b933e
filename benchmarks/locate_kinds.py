"""Train and judge the models of a report's type and of outer causes (src/netmend/locate/classify_weights.json).

    python benchmarks/locate_kinds.py --reports reports.jsonl.gz [--write]

Labels: benchmarks/locate/labels_triggered.csv (its README says how they came about). Reports of the part "train" are judged by
cross-validation, which settings and expressions were chosen by; those of the part "test" were labelled twice and predicted once,
afterwards. Every report is predicted by models that saw nothing of its project, not even its words.
"""

from __future__ import annotations

import argparse
import collections
import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    classification_report,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
)
from sklearn.model_selection import GroupKFold

from netmend.locate.bug_report import read_report
from netmend.locate.classify import WEIGHTS
from netmend.locate.classify_features import rule_features, word_weights

HERE = Path(__file__).parent
RESULT = HERE / "results" / "locate-kinds.json"
FOLDS = 8
DRAWS = 1000
STRENGTH, WORDS = 0.1, 3.0  # inverse of regularisation; scale of the words' vector beside the other features
DOUBTED = 0.4  # weight of a label that its reader was not sure of
SMALLEST = 0.03  # weights below it are not shipped
FEWEST_REPORTS, FEWEST_PROJECTS = 5, 3  # a word or feature must occur in so many
NO_PACKAGE = {
    "src",
    "tests",
    "test",
    "examples",
    "example",
    "docs",
    "scripts",
    "python",
    "tools",
    "benchmarks",
    "tutorials",
    "bin",
    "utils",
    "contrib",
    "ci",
    "lib",
    "app",
}


class Reports:
    """All reports with their words, labelled ones with their other features too."""

    def __init__(self, file: Path, labelled: set[str]) -> None:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        self.project = {row["id"]: row["project"] for row in rows}
        own: dict[str, set[str]] = collections.defaultdict(set)
        for row in rows:  # the packages of a project, as its repository would tell
            own[row["project"]].add(row["project"].split("+")[-1])
            for change in row["py_changes"]:
                folders = [part for part in change["path"].split("/")[:-1] if part.lower() not in NO_PACKAGE]
                own[row["project"]].update(folders[:1])
        self.words: dict[str, dict[str, float]] = {}
        self.rules: dict[str, dict[str, float]] = {}
        for row in rows:
            report = read_report(row["description"], row["title"])
            names = own[row["project"]]
            self.words[row["id"]] = word_weights(report)  # of all, for how rare words are
            if row["id"] in labelled:
                self.rules[row["id"]] = rule_features(report, names)

    def common(self, table: dict[str, dict[str, float]], without: set[str]) -> dict[str, int]:
        """Features of at least a few reports and projects, leaving some projects out, with how many reports have them."""
        reports: collections.Counter[str] = collections.Counter()
        projects: dict[str, set[str]] = collections.defaultdict(set)
        for name, features in table.items():
            if self.project[name] not in without:
                reports.update(features.keys())
                for feature in features:
                    projects[feature].add(self.project[name])
        return {
            feature: count
            for feature, count in sorted(reports.items())
            if count >= FEWEST_REPORTS and len(projects[feature]) >= FEWEST_PROJECTS
        }


class LinearModel:
    """Logistic regression on a report's words and on other features of one table."""

    def __init__(
        self,
        reports: Reports,
        rows: list[dict[str, str]],
        task: str,
        without: set[str],
    ) -> None:
        ids, table = [row["id"] for row in rows], reports.rules
        counts = reports.common(reports.words, without)
        total = sum(reports.project[name] not in without for name in reports.words)
        self.reports, self.table = reports, table
        self.rarity = {word: float(np.log(total / count)) for word, count in counts.items()}
        self.columns = [*(f"word: {word}" for word in self.rarity), *reports.common(table, without)]
        self.number = {name: index for index, name in enumerate(self.columns)}
        # fewer reports than columns: the same solution in the space that the reports span, several times faster
        matrix = self.matrix(ids)
        sizes, turned = np.linalg.eigh(matrix @ matrix.T)
        kept = sizes > 1e-9 * sizes[-1]
        roots, turned = np.sqrt(sizes[kept]), turned[:, kept]
        self.model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=3000)
        sure = [1.0 if task == "type" or row["doubt"] != "1" else DOUBTED for row in rows]
        self.model.fit(turned * roots, [row[task] for row in rows], sample_weight=sure)
        self.coefficients = (self.model.coef_ / roots) @ turned.T @ matrix

    def matrix(self, ids: list[str]) -> np.ndarray:
        rows = np.zeros((len(ids), len(self.columns)))
        for row, name in zip(rows, ids, strict=True):
            vector = {
                word: value * self.rarity[word]
                for word, value in self.reports.words[name].items()
                if word in self.rarity
            }
            length = float(np.sqrt(sum(value * value for value in vector.values()))) or 1.0
            for word, value in vector.items():
                row[self.number[f"word: {word}"]] = WORDS * value / length
            for feature, value in self.table[name].items():
                if feature in self.number:
                    row[self.number[feature]] = value
        return rows

    def sums(self, ids: list[str]) -> np.ndarray:
        return np.asarray(self.matrix(ids) @ self.coefficients.T + self.model.intercept_)

    def weights(self) -> dict[str, list[float]]:
        scale = np.array([WORDS if name.startswith("word: ") else 1.0 for name in self.columns])
        return {
            name: [round(float(one), 3) for one in row]
            for name, row in zip(self.columns, (self.coefficients * scale).T, strict=True)
            if np.abs(row).max() >= SMALLEST
        }


class TypeModel(LinearModel):
    """The type, out of six."""

    def __init__(self, reports: Reports, rows: list[dict[str, str]], without: set[str]) -> None:
        super().__init__(reports, rows, "type", without)

    def answers(self, ids: list[str]) -> np.ndarray:
        return np.array([str(self.model.classes_[one]) for one in self.sums(ids).argmax(1)], dtype=object)

    def exported(self) -> dict[str, Any]:
        return {
            "classes": [str(one) for one in self.model.classes_],
            "bias": [round(float(one), 4) for one in self.model.intercept_],
            "weights": self.weights(),
        }


class OuterModel(LinearModel):
    """The probability that the cause lies outside; none where the report shows no evidence of it."""

    def __init__(self, reports: Reports, rows: list[dict[str, str]], without: set[str]) -> None:
        super().__init__(reports, rows, "extrinsic", without)

    def answers(self, ids: list[str]) -> np.ndarray:
        shown = np.array(["evidence in all" in self.reports.rules[name] for name in ids])
        return np.asarray(shown / (1.0 + np.exp(-self.sums(ids)[:, 0])))

    def exported(self, threshold: float) -> dict[str, Any]:
        return {
            "bias": round(float(self.model.intercept_[0]), 4),
            "weights": {name: row[0] for name, row in self.weights().items()},
            "threshold": threshold,
        }


MODELS: dict[str, Callable[..., TypeModel | OuterModel]] = {"type": TypeModel, "extrinsic": OuterModel}


def best_threshold(truth: list[str], scores: np.ndarray) -> float:
    steps = [round(0.2 + 0.02 * step, 2) for step in range(31)]
    y = [one == "1" for one in truth]
    figures = [(f1_score(y, scores > step, zero_division=0), -abs(step - 0.5), step) for step in steps]
    return max(figures)[2]


def crossed(reports: Reports, rows: list[dict[str, str]], extra: list[dict[str, str]], task: str) -> Any:
    """Every row predicted by a model that saw nothing of its project; extra ones are only learned from."""
    groups = [reports.project[row["id"]] for row in rows]
    answers: Any = np.zeros(len(rows), dtype=object if task == "type" else float)
    for train, held in GroupKFold(FOLDS).split(np.zeros(len(rows)), groups=groups):
        out = {groups[index] for index in held}
        more = [row for row in extra if reports.project[row["id"]] not in out]
        model = MODELS[task](reports, [rows[index] for index in train] + more, out)
        answers[held] = model.answers([rows[index]["id"] for index in held])
    return answers


def outer_figures(truth: list[str], scores: np.ndarray, threshold: float) -> dict[str, Any]:
    y, said = np.array([one == "1" for one in truth]), scores > threshold
    hit = int((y & said).sum())
    return {
        "reports": len(truth), "extrinsic": int(y.sum()), "threshold": threshold, "f1": round(float(f1_score(y, said)), 3),
        "precision": round(hit / max(1, int(said.sum())), 3), "recall": round(hit / max(1, int(y.sum())), 3),
        "f1_intrinsic": round(float(f1_score(~y, ~said)), 3), "f1_macro": round(float(f1_score(y, said, average="macro")), 3),
        "f1_weighted": round(float(f1_score(y, said, average="weighted")), 3), "accuracy": round(float((y == said).mean()), 3),
    }  # fmt: skip


def type_figures(truth: list[str], said: list[str]) -> dict[str, Any]:
    told = classification_report(truth, said, output_dict=True, zero_division=0)
    classes = sorted(set(truth))
    return {
        "reports": len(truth), "f1_macro": round(told["macro avg"]["f1-score"], 3), "accuracy": round(told["accuracy"], 3),
        "f1": {name: round(told[name]["f1-score"], 3) for name in classes}, "support": {name: int(told[name]["support"]) for name in classes},
        "confusion": {"classes": classes, "rows_true_columns_said": confusion_matrix(truth, said, labels=classes).tolist()},
    }  # fmt: skip


def agreement(rows: list[dict[str, str]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for task in ("type", "extrinsic"):
        first, second = [row[f"first_{task}"] for row in rows], [row[f"second_{task}"] for row in rows]
        same = sum(a == b for a, b in zip(first, second, strict=True))
        figures[task] = {
            "agree": round(same / len(rows), 3),
            "kappa": round(float(cohen_kappa_score(first, second)), 3),
            "decided": len(rows) - same,
        }
    names = sorted({row["first_type"] for row in rows})
    by_type = (
        (name, [row["first_type"] == name for row in rows], [row["second_type"] == name for row in rows])
        for name in names
    )
    figures["kappa_by_type"] = {name: round(float(cohen_kappa_score(a, b)), 3) for name, a, b in by_type}
    return figures


def shares(rows: list[dict[str, str]]) -> dict[str, float]:
    """How many reports of each type are extrinsic."""
    of = {
        name: [row["extrinsic"] == "1" for row in rows if row["type"] == name]
        for name in {r["type"] for r in rows}
    }
    return {name: round(sum(some) / len(some), 3) for name, some in sorted(of.items())}


def intervals(figure: Callable[[np.ndarray], float], reports: int) -> list[float]:
    """The 95 % interval of a figure over reports drawn anew."""
    draws = np.random.default_rng(0).integers(0, reports, (DRAWS, reports))
    return [round(float(one), 3) for one in np.percentile([figure(draw) for draw in draws], (2.5, 97.5))]


def judged(
    rows: list[dict[str, str]], types: np.ndarray, scores: np.ndarray, threshold: float
) -> dict[str, Any]:
    """All figures of some reports, with intervals."""
    truth, outer = (
        np.array([row["type"] for row in rows]),
        np.array([row["extrinsic"] == "1" for row in rows]),
    )
    said, names = np.array([str(one) for one in types]), sorted({row["type"] for row in rows})
    told = scores > threshold
    of_type = type_figures(list(truth), list(said))
    of_type["f1_macro_interval"] = intervals(
        lambda draw: float(f1_score(truth[draw], said[draw], labels=names, average="macro", zero_division=0)),
        len(rows),
    )
    of_outer = outer_figures([row["extrinsic"] for row in rows], scores, threshold)
    of_outer["f1_interval"] = intervals(
        lambda draw: float(f1_score(outer[draw], told[draw], zero_division=0)), len(rows)
    )
    of_outer["average_precision"] = round(float(average_precision_score(outer, scores)), 3)
    return {"type": of_type, "extrinsic": of_outer}


def read_labels() -> dict[str, list[dict[str, str]]]:
    """Rows by part."""
    parts: dict[str, list[dict[str, str]]] = {"train": [], "test": []}
    with (HERE / "locate" / "labels_triggered.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            parts[row["part"]].append(row)
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--reports", type=Path, required=True, help="reports.jsonl.gz of Denchmark")
    parser.add_argument("--write", action="store_true", help="write the weights and the result file")
    wishes = parser.parse_args()
    parts = read_labels()
    train, test = parts["train"], parts["test"]
    reports = Reports(wishes.reports, {row["id"] for row in (*train, *test)})
    result: dict[str, Any] = {
        "labels": {name: len(rows) for name, rows in parts.items()},
        "extrinsic by type": shares(train),
        "agreement": agreement(test),
    }
    said = {task: crossed(reports, train, [], task) for task in MODELS}
    threshold = best_threshold([row["extrinsic"] for row in train], said["extrinsic"])
    result["train"] = judged(train, said["type"], said["extrinsic"], threshold)
    said = {task: crossed(reports, test, train, task) for task in MODELS}
    result["test"] = judged(test, said["type"], said["extrinsic"], threshold)
    print(json.dumps(result, indent=1))
    if wishes.write:
        known = [*train, *test]
        of_type, outer = TypeModel(reports, known, set()), OuterModel(reports, known, set())
        shipped = {
            "about": "Trained by benchmarks/locate_kinds.py on benchmarks/locate/labels*.csv.",
            "rarity": {word: round(value, 3) for word, value in of_type.rarity.items()},
            "type": of_type.exported(),
            "extrinsic": outer.exported(threshold),
        }
        WEIGHTS.write_text(json.dumps(shipped, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
        RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
