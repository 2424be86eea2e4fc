"""Check the words of names, comments, texts and documents: `python -m docs.glossary [PATH ...]` lists those to replace.

`make lint` runs it on the whole repository. A rule is a pattern, the words to use instead, and the lines and files
where the pattern is allowed. Add a rule if a word confused a reader; add an exception only if the word is right there.
"""

import fnmatch
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CITATION.cff",
    "Makefile",
    "compose.yaml",
    "pyproject.toml",
    "src",
    "docs",
    "tests",
    "benchmarks",
    "examples",
)
SKIPPED = (
    "CHANGELOG.md",
    "docs/glossary.py",
    "tests/test_glossary.py",
    "tests/fixtures/0*",
    "*/migrations/*",
    "tests/fixtures/*.json",
    "*.min.js",
)
SUFFIXES = (".py", ".md", ".js", ".html", ".toml", ".yaml", ".cff")
PER = r"(votes?|answers?|labels?|rows?|lines?|columns?|files?|numbers?|examples?|seconds|passes|folders?|tables?|curves?|bars?)"
THINGS = r"(task|worker|label|answer|vote|row|step|epoch|method|measure|field|second|run|fold|value|split|quantile|person|page)"


@dataclass(frozen=True)
class Rule:
    """A pattern to avoid: `names` are parts of identifiers, `prose` is text, comments and documents."""

    pattern: str
    use: str
    unless: str = r"(?!)"  # skip lines that match this: the word has another meaning there
    files: tuple[str, ...] = ()  # skip these files: the word has another meaning there
    names: bool = True
    prose: bool = True


DATABASE = ("src/plurivox/web/*", "tests/web/*", "tests/interfaces/web/*", "tests/fixtures/*", "benchmarks/studio.py")
# packages that read or write the column `sitting`
SITTING = (
    "core",
    "io",
    "clean",
    "evaluate",
    "simulate",
    "cli",
    "recipes",
)
AGREEMENT = (
    "src/plurivox/identify/*",
    "src/plurivox/engine/kernels/kappa_and_vote_agreement.py",
    "src/plurivox/engine/worker_pair_agreement.py",
    "src/plurivox/evaluate/label_agreement.py",
    "src/plurivox/evaluate/label_mismatch.py",
    "src/plurivox/workflows/crowd_agreement.py",
    "tests/*",
    "docs/identify.md",
)

RULES = (
    Rule(
        "raters?|ratings?",
        "worker, answer",
        unless="usual names",  # of columns in the tables of others
        files=("src/plurivox/io/formats/*", "*/usual_column_names.py", "docs/data.md", "tests/*"),
    ),
    Rule(
        "chances?",
        "rng, seed or probability",
        unless=r"(beyond|above|below|by|than|from)[ _]chance|chance (agreement|level)|[\"']chance/?[\"']",
        files=(*AGREEMENT, "*arm_comparison.py"),
    ),
    Rule("lessons?", "example"),
    Rule("visits?|visited", "epoch, example", unless=r"--record|[\"'`=(\[]visit\b", files=(*DATABASE, "docs/studio*")),
    Rule(
        "believes?|look|looks",
        "posterior, e_step",
        files=("tests/*", "*two_model_correctness.py", "*label_differences.py", "*fornaciari2021*"),
        prose=False,
    ),
    Rule("sweeps?|climbs?|climbed", "em_pass, run_em"),
    Rule("settles?|settled|settling", "resolve, converge", files=DATABASE),  # `settled` is a field of the API
    Rule("keeping", "checkpoint, best weights", prose=False),
    Rule(
        "judge|judges|judged|judging|judgements?",
        "evaluate, evaluation",
        files=(
            "*/core/data_type_base_class.py",
            "*/usual_column_names.py",
            "*/test_votes_table_layout.py",
            "tests/fixtures/*",
        ),
    ),
    Rule("wish|wishes", "TrainSpec"),
    Rule("soften|softens|softened|quads?", "softmax, SIMD width"),
    Rule(
        "lazy",
        "sparse",
        files=("src/plurivox/core/*", "src/plurivox/cli/*", "*/__init__.py", "src/plurivox/io/*", "tests/*", "docs/*"),
    ),
    Rule("watch|watches|telling", "progress callback"),
    Rule(
        "sittings?",
        "lease, session",
        files=(*DATABASE, *(f"src/plurivox/{one}/*" for one in SITTING), "tests/*", "docs/*"),
    ),
    Rule("tallying|troubles?|pools", "counter, alert, queue", files=DATABASE, unless="opinion pools"),  # of the API
    Rule("doors?|guards?|guarded", "auth, middleware", files=DATABASE),  # `door` is a stored column
    Rule(
        "guess(es|ed)?",
        "prediction",
        files=(
            "*mace*",
            "src/plurivox/simulate/*",
            "*/simulate.md",
            "docs/aggregate.md",
            "src/plurivox/web/*",
            "*/cli/identify.py",
            "*/core/data_type_base_class.py",
            "tests/*",
        ),
    ),
    Rule("rooms?", "step, package; buffer, space", unless=r"no-room"),
    Rule("nouns?", "data type", unless=r"(?i)[\"'`]noun[\"'`]"),
    Rule("walks?|walked", "pipeline", unless=r"(ast|os)\.walk|walk_packages|walk_revisions|\.walk\("),
    Rule("held up", "stale", names=False),
    Rule("(?<!there )(?<!here )(is|are) no(?= (?!longer|more|less|better|worse))", "is not a", names=False),
    Rule("no number(?! of)", "NaN, not a number", names=False),
    Rule("(memory )?does not suffice|suffices?", "out of memory; is enough", names=False),
    Rule("nobody knows", "unsupported, unknown", names=False),
    Rule(rf"{PER} an? {THINGS}", "per (votes per task)", names=False),
)
EXACT = [(rule, re.compile(rf"(?<![\w-])(?:{rule.pattern})(?![\w-])", re.IGNORECASE)) for rule in RULES]


def main(given: list[str]) -> int:
    """Print every word to replace under the given paths; return their number, at most 1."""
    found = [
        line
        for path in files_under([Path(one) for one in given] or [ROOT / one for one in PLACES])
        for line in faults_in(path)
    ]
    for line in found:
        sys.stdout.write(line + "\n")
    if found:
        sys.stdout.write(f"{len(found)} words to replace; docs/glossary.py has the rules and the exceptions\n")
    return min(len(found), 1)


def files_under(paths: list[Path]) -> Iterator[Path]:
    """Yield the text files in these folders, and these files, without those that are skipped."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = relative(file)
            if file.is_file() and (file.suffix in SUFFIXES or file.name == "Makefile") and not matches(name, SKIPPED):
                yield file


def relative(file: Path) -> str:
    """Return the path of a file inside the repository, or as given if it is outside."""
    file = file.resolve()
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.as_posix()


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a path matches one of the patterns."""
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def faults_in(file: Path) -> Iterator[str]:
    """Yield `path:line: word; use ...` for every word of one file that a rule replaces."""
    name, text = relative(file), file.read_text()
    rules = [
        (rule, pattern)
        for rule, pattern in EXACT
        if not matches(name, rule.files) and pattern.search(split_names(text))
    ]
    if not rules:
        return
    lines = text.splitlines()
    for number, is_name, piece in pieces(file.suffix, text):
        for rule, pattern in rules:
            if not (rule.names if is_name else rule.prose) or re.search(rule.unless, lines[number - 1]):
                continue
            for word in pattern.finditer(piece):
                yield f"{name}:{number}: {word[0]!r}; use {rule.use}"


def pieces(suffix: str, text: str) -> Iterator[tuple[int, bool, str]]:
    """Yield (line number, whether it is an identifier, text) of everything to check in a file."""
    if suffix != ".py":
        in_code = False
        for number, line in enumerate(text.splitlines(), 1):
            in_code ^= line.startswith("```")
            if not (suffix == ".md" and in_code):
                yield number, False, line
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], True, split_names(token.string)
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, False, line


def split_names(text: str) -> str:
    """Separate the words of identifiers by spaces.

    >>> split_names("first_guess OneOfThem")
    'first guess One Of Them'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text.replace("_", " "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
