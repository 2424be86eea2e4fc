"""Assignment methods, which choose the tasks that each worker is asked about: one file per method, imported lazily.

Every method chooses the tasks of one session of one worker (`Assigner.assign_session`). A `Proposer` also ranks questions
for all workers by expected information gain (`Proposer.propose`).
"""

from plurivox.assign._contract import GAIN_DECAY, UNASKED_GAIN, AssignedTask, Assigner, OpenTasks, methods
from plurivox.assign._shared.assignment_ledger import Ledger, plan
from plurivox.assign._shared.information_gain import expected_gain
from plurivox.assign._shared.ranked_question_proposals import Proposals, Proposer, Question

__all__ = [
    "GAIN_DECAY",
    "UNASKED_GAIN",
    "AssignedTask",
    "Assigner",
    "Ledger",
    "OpenTasks",
    "Proposals",
    "Proposer",
    "Question",
    "expected_gain",
    "methods",
    "plan",
]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
