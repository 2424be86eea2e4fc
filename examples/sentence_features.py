"""Write features of the sentences of sentence_polarity for training: `python -m examples.sentence_features sentences.npz`.

Per sentence: TF-IDF weights of the words that occur in two training sentences or more, projected on the 1,000 largest singular
vectors of the training sentences, all divided by one number so that the mean square of a feature is 1 for them. Test sentences
are not used to choose words, weights or vectors. Needs scikit-learn.
"""

import sys

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import plurivox as pv
from plurivox.core.array_types import Bools, Floats
from plurivox.core.name_encoding import as_names
from plurivox.train.data.training_data import TrainingData, write_training_data

N_FEATURES = 1000


def features_of_texts(texts: list[str], is_train: Bools, n_features: int = N_FEATURES) -> Floats:
    """Return (n_texts, n_features) features, fitted to the texts of the training split only."""
    words = TfidfVectorizer(token_pattern=r"[^\s]+", min_df=2, sublinear_tf=True)
    model = make_pipeline(words, TruncatedSVD(n_features, random_state=0))
    train = [text for text, used in zip(texts, is_train, strict=True) if used]
    scale = np.sqrt((model.fit_transform(train) ** 2).mean())
    return np.asarray(model.transform(texts) / scale, np.float16)


def training_data_of_sentences() -> TrainingData:
    """Return features, votes, gold labels and the official split of sentence_polarity."""
    data = pv.read("sentence_polarity")
    items = data.items
    assert items is not None and data.gold is not None
    split = np.array(items["split"].to_list())
    x = features_of_texts(items["text"].to_list(), split == "train")
    tasks = as_names(items["task"].to_list())
    return TrainingData("sentence_polarity", tasks, x, as_names(split.tolist()), data.gold, data.crowd())


if __name__ == "__main__":
    write_training_data(training_data_of_sentences(), sys.argv[1])
