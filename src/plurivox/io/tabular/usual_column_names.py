"""The usual names of columns of tasks, workers, labels, gold labels and times, in English and a few other languages.

Names are compared as `bare_name` returns them. Each line of a role is preferred to the next; within a line they are equal.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

NAMED_BY_ID = (
    *("image", "img", "picture", "photo", "file", "audio", "video", "clip", "text", "doc", "document", "sentence"),
    *("tweet", "post", "comment", "review", "article", "page", "product", "pair"),
)
UNITS = ("item", "unit", "question", "example", "sample", "instance", "object", "case", "stimulus", "slide")
CONTENTS = (
    *("text", "sentence", "tweet", "url", "document", "prompt", "post", "passage", "snippet", "utterance", "headline"),
    *("satz", "ausserung", "texte", "enonce", "phrase", "texto", "frase", "oracion", "enunciado", "testo"),
)
ROW_IDS = ("id", "idx", "nr", "lfdnr", "nummer", "numero")
USUAL_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "task": (
        ("task", "taskid", "taskname", "tasknumber"),
        (
            *(name + end for name in UNITS for end in ("", "id", "no", "number")),
            *("aufgabe", "tache", "tarea", "tarefa", "compito", "element", "elemento"),
        ),
        (
            *("image", "img", "imagename", "imagefile", "imagepath", "imageurl", "picture", "photo", "audio", "video"),
            *(
                "imageno",
                "imagenumber",
                "recording",
                "pair",
                "aufnahme",
                "aktenzeichen",
                "bild",
                "imagen",
                "imagem",
                "immagine",
                "clip",
                "doc",
            ),
            *("file", "filename", "filepath", "path", "datapoint", "recordid", "messageid", "utteranceid", "urlid"),
            *("hitid", "textno", "textnumber"),
            *(f"{name}id" for name in NAMED_BY_ID),
        ),
        CONTENTS,
        ROW_IDS,
    ),
    "worker": (
        ("worker", "workerid", "workername"),
        (
            *(
                name + end
                for name in (
                    *("annotator", "rater", "coder", "labeler", "labeller", "judge", "turker", "participant"),
                    *("respondent", "crowdworker", "performer", "grader", "assessor", "observer", "scorer", "prolific"),
                )
                for end in ("", "id", "name")
            ),
            *("annotatedby", "labeledby", "labelledby", "completedby"),
            *(
                "kodierer",
                "kodiererin",
                "codierer",
                "codiererin",
                "bewerter",
                "bewerterin",
                "annotatorin",
                "beurteiler",
                "beurteilerin",
                "beobachter",
                "beobachterin",
            ),
            *("annotateur", "annotatrice", "evaluateur", "evaluatrice", "codeur", "codeuse"),
            *("anotador", "anotadora", "codificador", "codificadora", "evaluador", "evaluadora"),
            *("avaliador", "avaliadora", "annotatore", "valutatore", "valutatrice", "codificatore", "codificatrice"),
        ),
        ("user", "userid", "username", "email", "useremail", "person", "personid", "createdby"),
        (
            *("reviewer", "reviewerid", "listener", "listenerid", "reader", "readerid"),
            *(
                "relecteur",
                "relectrice",
                "gutachter",
                "gutachterin",
                "leser",
                "leserin",
                "revisor",
                "revisora",
                "revisore",
            ),
        ),
    ),
    "label": (
        ("label", "labels", "labelname"),
        (
            *("class", "classname", "category", "choice", "vote", "rating", "answer", "response", "annotation"),
            *("judgment", "judgement", "workerlabel", "crowdlabel", "chosenlabel", "selectedlabel", "grade"),
            *(
                "kategorie",
                "klasse",
                "kodierung",
                "codierung",
                "bewertung",
                "antwort",
                "urteil",
                "categorie",
                "classe",
                "etiquette",
                "reponse",
            ),
            *("categoria", "clase", "etiqueta", "respuesta", "rotulo", "resposta", "etichetta", "risposta"),
        ),
        ("diagnosis", "decision", "verdict", "stance", "preference", "preferred", "einschatzung", "befund"),
        ("value", "score", "target", "tag", "result"),
        ("code",),
    ),
    "gold": (
        (
            *("gold", "goldlabel", "goldstandard", "truth", "truelabel", "groundtruth", "groundtruthlabel", "gt"),
            *("correctlabel", "labelgold", "labeltrue", "ytrue"),
        ),
        ("reference", "referencelabel", "musterlosung"),
    ),
    "when": (("when",), ("timestamp", "createdat", "submittedat", "annotatedat", "answeredat")),
    "seconds": (("seconds",), ("leadtime", "timespent", "worktimeinseconds", "durationseconds", "elapsedseconds")),
}
NUMBERED_WORKER = re.compile(
    r"(worker|annotator|annot|anno|ann|rater|coder|judge|labell?er|participant|user|expert|turker|reader|grader|assessor|"
    r"reviewer|respondent|listener|observer|scorer|physician|doctor|pathologist|radiologist|[kc]odierer|gutachter|beobachter|"
    r"bewerter|annotateur|codeur|evaluateur|anotador|codificador|evaluador|avaliador|annotatore|valutatore)"
    r"([ _.-]*\d+|[ _.-]+[a-z]|[a-rt-z])([ _]*\((?!conf|comment|note|remark|time|sec|min|reason)[^()]{1,20}\))?|"
    r"[arw][ _.-]*\d+",
)
TITLE_OR_ROLE = re.compile(  # first word of the names of people, as in Dr. Lim
    r"(dr|prof|mr|mrs|ms|miss|md|herr|frau|worker|annotator|rater|coder|judge|labell?er|participant|user|expert|reader|reviewer|"
    r"grader|assessor|professor|doctor|doktor|physician|pathologist|radiologist|student|teacher|editor|kodierer|bewerter|"
    r"annotateur|codeur|anotador|annotatore)s?"
)
RESULT_OF_SEVERAL_WORKERS = re.compile(
    r"(label)?(consensus|adjudicated|adjudication|final|majority|aggregated|aggregate|agreed|resolved|expert)"
    r"(label|vote|answer|class|category|code|rating|decision)?"
)


@cache
def bare_name(column: str) -> str:
    """Return a column name in lower case without accents, spaces, `_`, `-` and other marks.

    >>> bare_name("Worker ID"), bare_name("worker-id"), bare_name("Catégorie"), bare_name("Kodierer/in")
    ('workerid', 'workerid', 'categorie', 'kodiererin')
    """
    return re.sub(r"[\W_]+", "", _without_accents(column))


def has_usual_name(column: str, role: str) -> bool:
    """Return whether a column has one of the usual names of a role: task, worker, label, gold, when or seconds."""
    return any(bare_name(column) in line for line in USUAL_NAMES[role])


def has_name_of_numbered_worker(column: str) -> bool:
    """Return whether a column is named as one of several workers.

    >>> [has_name_of_numbered_worker(name) for name in ("annotator_1", "Rater B", "w03", "Rater 2 (AK)", "ann", "answer1")]
    [True, True, True, True, False, False]
    """
    return NUMBERED_WORKER.fullmatch(_without_accents(column.strip())) is not None


def has_name_of_gold_or_consensus(column: str) -> bool:
    """Return whether a column is named as the true labels, or as a label made of those of several workers.

    >>> [has_name_of_gold_or_consensus(name) for name in ("Gold", "final label", "expert", "expert 2", "ann")]
    [True, True, True, False, False]
    """
    return has_usual_name(column, "gold") or RESULT_OF_SEVERAL_WORKERS.fullmatch(bare_name(column)) is not None


def _without_accents(text: str) -> str:
    """Return a text in lower case without accents: é is e, ß is ss."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(one for one in parts if not unicodedata.combining(one)))
