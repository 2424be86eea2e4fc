"""Assign: what is open and what we believe -> what to ask next. One file a way; `ls` lists them.

Every way chooses a sitting for the worker who has come (`Assigner.sit`, out of a `Pool`); one that knows what an answer
would tell ranks questions for a whole crowd as well (`Proposer.propose`).
"""

from plurivox.assign._contract import FALL, UNASKED, Assigner, Place, Pool, methods
from plurivox.assign._shared.information_gain import expected_gain
from plurivox.assign._shared.ledger import Ledger, plan
from plurivox.assign._shared.proposals import Proposals, Proposer, Question

__all__ = [
    "FALL",
    "UNASKED",
    "Assigner",
    "Ledger",
    "Place",
    "Pool",
    "Proposals",
    "Proposer",
    "Question",
    "expected_gain",
    "methods",
    "plan",
]
__getattr__ = methods.attribute
__dir__ = methods.attributes
