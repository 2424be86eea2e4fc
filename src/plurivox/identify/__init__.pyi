# made by `make stubs`
from plurivox.identify._contract import *
from plurivox.identify._contract import methods as methods
from plurivox.identify.aggregator_disagreement import AggregatorDisagreement as AggregatorDisagreement
from plurivox.identify.agreement_with_rest import AgreementWithRest as AgreementWithRest
from plurivox.identify.aum import Aum as Aum
from plurivox.identify.cohen_kappa import CohenKappa as CohenKappa
from plurivox.identify.crowdlab import Crowdlab as Crowdlab
from plurivox.identify.disagreement import Disagreement as Disagreement
from plurivox.identify.drift import Drift as Drift
from plurivox.identify.entropy import Entropy as Entropy
from plurivox.identify.fleiss_kappa import FleissKappa as FleissKappa
from plurivox.identify.glad_ability import GladAbility as GladAbility
from plurivox.identify.glad_difficulty import GladDifficulty as GladDifficulty
from plurivox.identify.gold_accuracy import GoldAccuracy as GoldAccuracy
from plurivox.identify.gwet_ac1 import GwetAc1 as GwetAc1
from plurivox.identify.krippendorff_alpha import KrippendorffAlpha as KrippendorffAlpha
from plurivox.identify.kurtosis import Kurtosis as Kurtosis
from plurivox.identify.observed_agreement import ObservedAgreement as ObservedAgreement
from plurivox.identify.percent_calibration import PercentCalibration as PercentCalibration
from plurivox.identify.posterior_entropy import PosteriorEntropy as PosteriorEntropy
from plurivox.identify.repeat_consistency import RepeatConsistency as RepeatConsistency
from plurivox.identify.spam_score import SpamScore as SpamScore
from plurivox.identify.speed import Speed as Speed
from plurivox.identify.too_fast import TooFast as TooFast
from plurivox.identify.trace import Trace as Trace
from plurivox.identify.waum import Waum as Waum
from plurivox.identify.waum_per_worker import WaumPerWorker as WaumPerWorker
