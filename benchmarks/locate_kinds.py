"""Train and judge the models of a report's type and of outer causes (src/netmend/locate/classify_weights.json).

    python benchmarks/locate_kinds.py --reports reports.jsonl.gz [--write]

Labels: benchmarks/locate/labels.csv (two passes, decided; halves by project) and labels_training.csv (one pass, only ever
trained on, no project of the test half). First the test half is predicted by models that saw nothing of its projects, not
even their words; then all labelled reports by cross-validation over whole projects. Settings were chosen on the development half.
"""

from __future__ import annotations

import argparse
import collections
import csv
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report, cohen_kappa_score, confusion_matrix, f1_score
from sklearn.model_selection import GroupKFold

from netmend.locate.bug_report import read_report
from netmend.locate.classify import WEIGHTS
from netmend.locate.classify_features import outer_features, rule_features, word_weights

HERE = Path(__file__).parent
RESULT = HERE / "results" / "locate-kinds.json"
FOLDS = 8
TYPE_STRENGTH, TYPE_WORDS, TYPE_RULES = (
    0.3,
    3.0,
    0.5,
)  # inverse of regularisation, scale of words and of rules
OUTER_STRENGTH = 0.03  # strong: the sum of priors leads, single kinds of evidence correct it a little
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
    """All reports with their features; labels are looked up by id."""

    def __init__(self, file: Path) -> None:
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
        self.outer: dict[str, dict[str, float]] = {}
        for row in rows:
            report = read_report(row["description"], row["title"])
            names = own[row["project"]]
            self.words[row["id"]] = word_weights(report)
            self.rules[row["id"]] = rule_features(report, names)
            self.outer[row["id"]] = outer_features(report, names)

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


class TypeModel:
    """Multinomial logistic regression on words and rules."""

    def __init__(self, reports: Reports, ids: list[str], labels: list[str], without: set[str]) -> None:
        counts = reports.common(reports.words, without)
        total = sum(reports.project[name] not in without for name in reports.words)
        self.reports = reports
        self.rarity = {word: float(np.log(total / count)) for word, count in counts.items()}
        self.columns = [*(f"word: {word}" for word in self.rarity), *reports.common(reports.rules, without)]
        self.number = {name: index for index, name in enumerate(self.columns)}
        self.model = LogisticRegression(C=TYPE_STRENGTH, class_weight="balanced", max_iter=3000).fit(
            self.matrix(ids), labels
        )

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
                row[self.number[f"word: {word}"]] = TYPE_WORDS * value / length
            for feature, value in self.reports.rules[name].items():
                if feature in self.number:
                    row[self.number[feature]] = TYPE_RULES * value
        return rows

    def predict(self, ids: list[str]) -> list[str]:
        return [str(one) for one in self.model.predict(self.matrix(ids))]

    def exported(self) -> dict[str, Any]:
        scale = np.array([TYPE_WORDS if name.startswith("word: ") else TYPE_RULES for name in self.columns])
        table = (self.model.coef_ * scale).T
        rows = {
            name: [round(float(one), 3) for one in row]
            for name, row in zip(self.columns, table, strict=True)
            if np.abs(row).max() >= 0.03
        }
        kept = {word: round(value, 3) for word, value in self.rarity.items()}
        return {
            "classes": [str(one) for one in self.model.classes_],
            "bias": [round(float(one), 4) for one in self.model.intercept_],
            "rarity": kept,
            "weights": rows,
        }


class OuterModel:
    """Logistic regression on evidence of outer causes."""

    def __init__(self, reports: Reports, ids: list[str], labels: list[str], without: set[str]) -> None:
        self.reports = reports
        self.columns = list(reports.common(reports.outer, without))
        self.number = {name: index for index, name in enumerate(self.columns)}
        self.model = LogisticRegression(C=OUTER_STRENGTH, class_weight="balanced", max_iter=3000).fit(
            self.matrix(ids), labels
        )

    def matrix(self, ids: list[str]) -> np.ndarray:
        rows = np.zeros((len(ids), len(self.columns)))
        for row, name in zip(rows, ids, strict=True):
            for feature, value in self.reports.outer[name].items():
                if feature in self.number:
                    row[self.number[feature]] = value
        return rows

    def scores(self, ids: list[str]) -> np.ndarray:
        return np.asarray(self.model.predict_proba(self.matrix(ids))[:, list(self.model.classes_).index("1")])

    def exported(self, threshold: float) -> dict[str, Any]:
        weights = {
            name: round(float(one), 3) for name, one in zip(self.columns, self.model.coef_[0], strict=True)
        }
        return {"bias": round(float(self.model.intercept_[0]), 4), "weights": weights, "threshold": threshold}


def best_threshold(truth: list[str], scores: np.ndarray) -> float:
    steps = [round(0.2 + 0.02 * step, 2) for step in range(31)]
    y = [one == "1" for one in truth]
    figures = [(f1_score(y, scores > step, zero_division=0), -abs(step - 0.5), step) for step in steps]
    return max(figures)[2]


def crossed(reports: Reports, rows: list[dict[str, str]], extra: list[dict[str, str]], task: str) -> Any:
    """Every row predicted by a model that saw nothing of its project."""
    ids = [row["id"] for row in rows]
    groups = [reports.project[name] for name in ids]
    truth = np.array([row[task] for row in rows])
    answers: Any = np.zeros(len(ids), dtype=object if task == "type" else float)
    for train, held in GroupKFold(FOLDS).split(np.zeros(len(ids)), truth, groups):
        out = {groups[index] for index in held}
        more = [row for row in extra if row[task] and reports.project[row["id"]] not in out]
        train_ids = [ids[index] for index in train] + [row["id"] for row in more]
        labels = [str(truth[index]) for index in train] + [row[task] for row in more]
        held_ids = [ids[index] for index in held]
        if task == "type":
            answers[held] = TypeModel(reports, train_ids, labels, out).predict(held_ids)
        else:
            answers[held] = OuterModel(reports, train_ids, labels, out).scores(held_ids)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--reports", type=Path, required=True, help="reports.jsonl.gz of Denchmark")
    parser.add_argument("--write", action="store_true", help="write the weights and the result file")
    wishes = parser.parse_args()
    reports = Reports(wishes.reports)
    with (HERE / "locate" / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (HERE / "locate" / "labels_training.csv").open(encoding="utf-8", newline="") as file:
        extra = list(csv.DictReader(file))
    development = [row for row in rows if row["half"] == "development"]
    test = [row for row in rows if row["half"] == "test"]
    hidden = {reports.project[row["id"]] for row in test}
    if {reports.project[row["id"]] for row in (*development, *extra)} & hidden:
        sys.exit("a project of the test half is among those trained on")
    result: dict[str, Any] = {
        "agreement": agreement(rows),
        "labels": {"development": len(development), "test": len(test), "training_only": len(extra)},
    }

    ids = [row["id"] for row in test]
    seen = [row for row in (*development, *extra) if row["type"]]
    model = TypeModel(reports, [row["id"] for row in seen], [row["type"] for row in seen], hidden)
    result["type_test_half"] = type_figures([row["type"] for row in test], model.predict(ids))
    within = crossed(reports, development, extra, "extrinsic")
    threshold = best_threshold([row["extrinsic"] for row in development], within)
    result["extrinsic_development_crossed"] = outer_figures(
        [row["extrinsic"] for row in development], within, threshold
    )
    seen = [row for row in (*development, *extra) if row["extrinsic"]]
    outer = OuterModel(reports, [row["id"] for row in seen], [row["extrinsic"] for row in seen], hidden)
    result["extrinsic_test_half"] = outer_figures(
        [row["extrinsic"] for row in test], outer.scores(ids), threshold
    )

    result["type_crossed"] = type_figures(
        [row["type"] for row in rows], list(crossed(reports, rows, extra, "type"))
    )
    scores = crossed(reports, rows, extra, "extrinsic")
    truth = [row["extrinsic"] for row in rows]
    result["extrinsic_crossed"] = outer_figures(truth, scores, threshold)
    print(json.dumps(result, indent=1))
    if wishes.write:
        everything = [row for row in (*rows, *extra) if row["type"]]
        types = TypeModel(
            reports, [row["id"] for row in everything], [row["type"] for row in everything], set()
        )
        everything = [row for row in (*rows, *extra) if row["extrinsic"]]
        outer = OuterModel(
            reports, [row["id"] for row in everything], [row["extrinsic"] for row in everything], set()
        )
        shipped = {
            "about": "Trained by benchmarks/locate_kinds.py on benchmarks/locate/labels*.csv.",
            "type": types.exported(),
            "extrinsic": outer.exported(threshold),
        }
        WEIGHTS.write_text(json.dumps(shipped, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
        RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
