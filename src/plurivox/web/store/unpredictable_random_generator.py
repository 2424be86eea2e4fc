"""The random generator of a running study: ranks in a queue, order of tasks and labels, arms.

`rng` has no seed, so that assignments cannot be predicted. Tests replace it with a seeded one.
"""

import random

rng: random.Random = random.SystemRandom()
