# made by `make stubs`
from plurivox.assign._contract import *
from plurivox.assign._contract import methods as methods
from plurivox.assign._shared.assignment_ledger import Ledger as Ledger
from plurivox.assign._shared.ranked_question_proposals import Proposals as Proposals
from plurivox.assign._shared.ranked_question_proposals import Proposer as Proposer
from plurivox.assign._shared.ranked_question_proposals import Question as Question
from plurivox.assign._shared.information_gain import expected_gain as expected_gain
from plurivox.assign._shared.assignment_ledger import plan as plan
from plurivox.assign.batches import Batches as Batches
from plurivox.assign.next_best import NextBest as NextBest
from plurivox.assign.quota import Quota as Quota
from plurivox.assign.tasks_per_stratum import TasksPerStratum as TasksPerStratum
