"""Random draws of a running study: ranks in a queue, order of tasks and labels, arms.

Nobody can foresee what they will be asked: `rng` takes no seed. Tests replace it by one that does.
"""

import random

rng: random.Random = random.SystemRandom()
