"""Run the benchmarks and print one table: `make bench` or `python -m benchmarks [NAME ...]`."""

import importlib
import sys

from benchmarks.measure import machine

ALL = ("startup", "ingest", "elicit", "aggregate", "glad", "acceleration", "growth")
ALL += ("simulate", "identify", "train", "heads", "studio")


def main(names: list[str]) -> None:
    """Run each benchmark alone, one after another."""
    print(f"machine: {machine()}\n\n| claim | measured | limit |\n|---|---|---|")
    for name in names or ALL:
        for claim, measured, limit in importlib.import_module(f"benchmarks.{name}").run():
            print(f"| {claim} | {measured} | {limit} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
