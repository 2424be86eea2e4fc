"""Run the benchmarks and print one table: `make bench` or `python -m benchmarks [NAME ...]`."""

import importlib
import sys

from benchmarks.measurement import describe_machine

BENCHMARKS = ("startup", "ingest", "elicit", "aggregate", "glad", "acceleration", "scaling")
BENCHMARKS += ("simulate", "identify", "train", "heads", "studio", "report")


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all, one after another, and print a table row per claim."""
    print(f"machine: {describe_machine()}\n\n| claim | measured | limit |\n|---|---|---|")
    for name in names or BENCHMARKS:
        for claim, measured, limit in importlib.import_module(f"benchmarks.{name}").run():
            print(f"| {claim} | {measured} | {limit} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
