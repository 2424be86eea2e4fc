"""What every way to assign is, in one place: it chooses sittings out of a pool; a proposer also ranks questions."""

from plurivox.assign._ledger import Ledger, plan
from plurivox.assign._proposals import Proposals, Proposer, Question
from plurivox.assign._sitting import Assigner, Place, Pool
from plurivox.core.registry import Methods

__all__ = ["Assigner", "Ledger", "Place", "Pool", "Proposals", "Proposer", "Question", "methods", "plan"]

methods: Methods[Assigner] = Methods(__package__, Assigner)
