"""A simulated crowd on 1,797 real digit images: people misread images that look like another digit, some answer at random."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import plurivox as pv
from plurivox.io.features import Features

N_GUESSING = 4  # workers whose votes are random


def load_digit_images() -> tuple[pv.SoftLabels, Features]:
    """Return the true label of every image, and its 8 x 8 grey values as features."""
    images = load_digits()
    tasks = [f"digit-{i:04d}" for i in range(len(images.target))]
    truth = pv.SoftLabels.gold(tasks, [str(label) for label in images.target])
    return truth, Features(truth.tasks, images.data.astype(np.float32))


def simulate_readers(truth: pv.SoftLabels, features: Features, seed: int = 1) -> "pv.simulate.Simulated":
    """Return a crowd of 60 workers, 5 votes per image.

    Every worker has an own random confusion matrix. On top of that, a vote on an image that resembles another digit, by its
    15 nearest neighbours, is a draw from their digits; and the votes of the first workers are random.
    """
    crowd = pv.simulate_crowd("independent-confusion", truth, n_workers=60, feedback=5, concentration=0.15, seed=seed)
    rng, votes = np.random.default_rng(seed), crowd.votes
    code = truth.most_probable_label_codes()
    resembles = cross_val_predict(KNeighborsClassifier(15), features.x, code, cv=5, method="predict_proba")
    drawn = (resembles[votes.task].cumsum(1) > rng.random((len(votes), 1))).argmax(1)
    misread = rng.random(len(votes)) > resembles[votes.task, code[votes.task]]
    label = np.where(misread, drawn, votes.label)
    label = np.where(votes.worker < N_GUESSING, rng.integers(votes.n_labels, size=len(votes)), label)
    matrices = crowd.confusion.dense().copy()
    matrices[:N_GUESSING] = 1 / votes.n_labels
    confusion = replace(crowd.confusion, matrices=matrices)
    return replace(crowd, votes=replace(votes, label=label.astype(votes.label.dtype)), confusion=confusion)


def write_images(features: Features, folder: Path) -> None:
    """Write the images as PNG files named after their tasks, dark on white, so that a report can show them."""
    folder.mkdir(parents=True, exist_ok=True)
    for task, grey in zip(features.tasks.tolist(), features.x.reshape(-1, 8, 8), strict=True):
        buffer = io.BytesIO()
        Image.fromarray((255 - grey * 255 / 16).astype(np.uint8)).save(buffer, "PNG")
        (folder / f"{task}.png").write_bytes(buffer.getvalue())
