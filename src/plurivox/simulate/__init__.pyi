# made by `make stubs`
from plurivox.simulate._contract import *
from plurivox.simulate._contract import methods as methods
from plurivox.simulate.discrete_difficulty import DiscreteDifficulty as DiscreteDifficulty
from plurivox.simulate.hammer_spammer import HammerSpammer as HammerSpammer
from plurivox.simulate.independent_confusion import IndependentConfusion as IndependentConfusion
from plurivox.simulate.soft_answers import SoftAnswers as SoftAnswers
from plurivox.simulate.student_teacher import StudentTeacher as StudentTeacher
