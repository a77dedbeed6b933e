# make demo   set up, then find three classic faults, and write the page of a fourth
# make test   set up, then format, lint, types and the whole test suite
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types unit format clean learned

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/netmend demo
	$(BIN)/netmend run --html demo-report.html examples/broken_rings.py

test: lint types unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

# two workers and what they start: one thread each is faster than several that wait for a core
unit: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# Generate the corpus of mutants anew (it goes on where it was stopped), train the ranking of causes, report on unseen programs.
learned: $(STAMP)
	$(BIN)/python benchmarks/learned/generate.py --set calibration
	$(BIN)/python benchmarks/learned/generate.py --set heldout
	$(BIN)/python benchmarks/learned/train.py
	$(BIN)/python benchmarks/learned/evaluate.py

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist demo-report.html
