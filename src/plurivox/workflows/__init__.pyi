# made by `make stubs`
from plurivox.workflows.answer_cost_in_seconds import Curve as Curve
from plurivox.workflows.answer_cost_in_seconds import break_even as break_even
from plurivox.workflows.answer_cost_in_seconds import curve as curve
from plurivox.workflows.answer_cost_in_seconds import seconds_per_answer as seconds_per_answer
from plurivox.workflows.assign_tasks import BatchPlan as BatchPlan
from plurivox.workflows.assign_tasks import plan_batches as plan_batches
from plurivox.workflows.assign_tasks import propose as propose
from plurivox.workflows.choose_option_value import Choice as Choice
from plurivox.workflows.choose_option_value import choose as choose
from plurivox.workflows.clean_dataset import clean_set as clean_set
from plurivox.workflows.clean_dataset import write_cleaned as write_cleaned
from plurivox.workflows.compare_aggregators import Comparison as Comparison
from plurivox.workflows.compare_aggregators import compare as compare
from plurivox.workflows.convert_answers_to_votes import elicit_votes as elicit_votes
from plurivox.workflows.convert_answers_to_votes import write_elicited as write_elicited
from plurivox.workflows.crowd_agreement import Agreement as Agreement
from plurivox.workflows.crowd_agreement import agreement as agreement
from plurivox.workflows.describe_dataset import EnteredDescription as EnteredDescription
from plurivox.workflows.describe_dataset import describe as describe
from plurivox.workflows.fit_votes import fit as fit
from plurivox.workflows.label_evaluation import evaluate_labels as evaluate_labels
from plurivox.workflows.leak_check import check_leaks as check_leaks
from plurivox.workflows.out_of_fold_predictions import OutOfFold as OutOfFold
from plurivox.workflows.out_of_fold_predictions import train_folds as train_folds
from plurivox.workflows.prune_by_score import prune as prune
from plurivox.workflows.prune_by_score import prune_and_compare as prune_and_compare
from plurivox.workflows.ranking_by_several_scores import Ranking as Ranking
from plurivox.workflows.score_tasks_workers import rank as rank
from plurivox.workflows.score_tasks_workers import score as score
from plurivox.workflows.simulate_and_write_crowd import simulate_crowd as simulate_crowd
from plurivox.workflows.simulate_and_write_crowd import write_crowd as write_crowd
from plurivox.workflows.train_nets import train_once as train_once
from plurivox.workflows.train_nets import train_runs as train_runs

EXPORTS: dict[str, str]
