"""BibTeX entries of the papers behind the methods and measures that a report uses."""

import re
from collections.abc import Iterable

from plurivox.core.method import parse_spec

FIELD = re.compile(r", ([a-zA-Z]+) = \{")  # of an entry

ENTRIES = {  # key -> (how a sentence cites it, BibTeX)
    "plurivox": (
        "plurivox",
        "@software{plurivox, title = {plurivox: soft labels from several annotators}, version = {%s}}",
    ),
    "dawid1979": (
        "Dawid and Skene, 1979",
        "@article{dawid1979, author = {Dawid, A. P. and Skene, A. M.}, title = {Maximum Likelihood Estimation of Observer "
        "Error-Rates Using the {EM} Algorithm}, journal = {Journal of the Royal Statistical Society: Series C}, volume = "
        "{28}, number = {1}, pages = {20--28}, year = {1979}, doi = {10.2307/2346806}}",
    ),
    "whitehill2009": (
        "Whitehill et al., 2009",
        "@inproceedings{whitehill2009, author = {Whitehill, Jacob and Ruvolo, Paul and Wu, Tingfan and Bergsma, Jacob and "
        "Movellan, "
        "Javier}, title = {Whose Vote Should Count More: Optimal Integration of Labels from Labelers of Unknown Expertise}, "
        "booktitle = {Advances in Neural Information Processing Systems 22}, pages = {2035--2043}, year = {2009}}",
    ),
    "hovy2013": (
        "Hovy et al., 2013",
        "@inproceedings{hovy2013, author = {Hovy, Dirk and Berg-Kirkpatrick, Taylor and Vaswani, Ashish and Hovy, Eduard}, "
        "title = {Learning Whom to Trust with {MACE}}, booktitle = {Proceedings of NAACL-HLT 2013}, pages = {1120--1130}, "
        "year = {2013}}",
    ),
    "ustalov2024": (
        "Ustalov et al., 2024",
        "@article{ustalov2024, author = {Ustalov, Dmitry and Pavlichenko, Nikita and Tseitlin, Boris}, title = {Learning "
        "from Crowds with {Crowd-Kit}}, journal = {Journal of Open Source Software}, volume = {9}, number = {96}, pages = "
        "{6227}, year = {2024}, doi = {10.21105/joss.06227}}",
    ),
    "uma2020": (
        "Uma et al., 2020",
        "@inproceedings{uma2020, author = {Uma, Alexandra and Fornaciari, Tommaso and Hovy, Dirk and Paun, Silviu and "
        "Plank, Barbara and "
        "Poesio, Massimo}, title = {A Case for Soft Loss Functions}, booktitle = {Proceedings of the AAAI Conference on Human "
        "Computation and Crowdsourcing}, volume = {8}, pages = {173--177}, year = {2020}, doi = {10.1609/hcomp.v8i1.7478}}",
    ),
    "lefort2024": (
        "Lefort et al., 2024",
        "@article{lefort2024, author = {Lefort, Tanguy and Charlier, Benjamin and Joly, Alexis and Salmon, Joseph}, title "
        "= {Peerannot: classification for crowdsourced image datasets with {Python}}, journal = {Computo}, year = {2024}, "
        "doi = {10.57750/qmaz-gr91}}",
    ),
    "kim2012": (
        "Kim and Ghahramani, 2012",
        "@inproceedings{kim2012, author = {Kim, Hyun-Chul and Ghahramani, Zoubin}, title = {Bayesian Classifier Combination}, "
        "booktitle = {Proceedings of AISTATS 2012}, series = {PMLR}, volume = {22}, pages = {619--627}, year = {2012}}",
    ),
    "li2019": (
        "Li et al., 2019",
        "@inproceedings{li2019, author = {Li, Yuan and Rubinstein, Benjamin I. P. and Cohn, Trevor}, title = {Exploiting "
        "Worker Correlation for Label Aggregation in Crowdsourcing}, booktitle = {Proceedings of ICML 2019}, series = "
        "{PMLR}, volume = {97}, pages = {3886--3895}, year = {2019}}",
    ),
    "sinha2018": (
        "Sinha et al., 2018",
        "@misc{sinha2018, author = {Sinha, Vaibhav B. and Rao, Sukrut and Balasubramanian, Vineeth N.}, title = {Fast "
        "{Dawid-Skene}: A Fast Vote Aggregation Scheme for Sentiment Classification}, year = {2018}, eprint = "
        "{1803.02781}, archivePrefix = {arXiv}}",
    ),
    "raykar2011": (
        "Raykar and Yu, 2011",
        "@inproceedings{raykar2011, author = {Raykar, Vikas C. and Yu, Shipeng}, title = {Ranking Annotators for "
        "Crowdsourced Labeling "
        "Tasks}, booktitle = {Advances in Neural Information Processing Systems 24}, pages = {1809--1817}, year = {2011}}",
    ),
    "krippendorff2004": (
        "Krippendorff, 2004",
        "@book{krippendorff2004, author = {Krippendorff, Klaus}, title = {Content Analysis: An Introduction to Its "
        "Methodology}, edition = {2}, publisher = {Sage}, year = {2004}}",
    ),
    "shannon1948": (
        "Shannon, 1948",
        "@article{shannon1948, author = {Shannon, Claude E.}, title = {A Mathematical Theory of Communication}, journal = "
        "{Bell System Technical Journal}, volume = {27}, number = {3}, pages = {379--423}, year = {1948}, doi = "
        "{10.1002/j.1538-7305.1948.tb01338.x}}",
    ),
    "wilson1927": (
        "Wilson, 1927",
        "@article{wilson1927, author = {Wilson, Edwin B.}, title = {Probable Inference, the Law of Succession, and "
        "Statistical Inference}, journal = {Journal of the American Statistical Association}, volume = {22}, number = "
        "{158}, pages = {209--212}, year = {1927}, doi = {10.1080/01621459.1927.10502953}}",
    ),
    "guo2017": (
        "Guo et al., 2017",
        "@inproceedings{guo2017, author = {Guo, Chuan and Pleiss, Geoff and Sun, Yu and Weinberger, Kilian Q.}, title = "
        "{On Calibration of Modern Neural Networks}, booktitle = {Proceedings of ICML 2017}, series = {PMLR}, volume = "
        "{70}, pages = {1321--1330}, year = {2017}}",
    ),
}
KEYS_OF_METHODS = {  # name of an aggregator or score -> keys of its papers; () for methods of plurivox
    "vote-shares": ("uma2020",),
    "softmax-shares": ("uma2020",),
    "majority-vote": (),
    "wawa": ("ustalov2024",),
    "zero-based-skill": ("ustalov2024",),
    "dawid-skene": ("dawid1979",),
    "one-coin": ("dawid1979",),
    "fast-dawid-skene": ("sinha2018",),
    "weighted-dawid-skene": ("lefort2024",),
    "two-third": ("lefort2024",),
    "glad": ("whitehill2009",),
    "mace": ("hovy2013",),
    "ibcc": ("kim2012",),
    "ebcc": ("li2019",),
    "log-pool": ("dawid1979", "ustalov2024"),  # its parts
    "calibrated-shares": (),
    "trace": ("lefort2024",),
    "trace-pooled": ("lefort2024",),
    "spam-score": ("raykar2011",),
    "spam-score-pooled": ("raykar2011",),
    "entropy": ("shannon1948",),
    "posterior-entropy": ("shannon1948",),
    "glad-difficulty": ("whitehill2009",),
    "glad-ability": ("whitehill2009",),
    "krippendorff-alpha": ("krippendorff2004",),
    "wilson-interval": ("wilson1927",),
    "ece": ("guo2017",),
}


def citation_text(spec: str) -> str:
    """Return how a sentence cites a method: its papers in brackets; "" if none is known.

    >>> citation_text("dawid-skene[pool=4]"), citation_text("calibrated-shares")
    (' (Dawid and Skene, 1979)', '')
    """
    found = [ENTRIES[key][0] for key in KEYS_OF_METHODS.get(parse_spec(spec)[0], ())]
    return f" ({'; '.join(found)})" if found else ""


def bibtex(specs: Iterable[str], version: str) -> str:
    """Return the BibTeX entries of the papers of these methods, and of plurivox, each once."""
    keys = ["plurivox"]
    for spec in specs:
        keys += [key for key in KEYS_OF_METHODS.get(parse_spec(spec)[0], ()) if key not in keys]
    return "\n\n".join(_on_lines(ENTRIES[key][1].replace("%s", version)) for key in keys)


def _on_lines(entry: str) -> str:
    """Return a BibTeX entry with each field on its own line."""
    return FIELD.sub(r",\n  \1 = {", entry)[:-1] + "\n}"
