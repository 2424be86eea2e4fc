"""Inputs of a training: which features, images or texts of a data set a net is given, and reading them.

Without a choice they are the first of these that the data set has: features, images, texts. Columns of numbers are inputs
only if they are named, because a table of items may contain labels or task numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from plurivox.core.array_types import Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few

if TYPE_CHECKING:
    from plurivox.io import Dataset  # needs polars, which an .npz of plain arrays does not
    from plurivox.io.features import Features
    from plurivox.train.data.input_encodings import InputEncoding

Note = Callable[[str], None]  # called with a message for the user
TextInput = Literal["words", "tokens", "word pairs"]  # what a net reads of a text, see `Net.reads`
TOKEN_COLUMNS = ("sentence", "position", "token")
PAIR_COLUMNS = ("word", "stem")


@dataclass(frozen=True)
class Pictures:
    """Where the images of a training are read from, the size to scale them to, and whether unreadable ones are skipped."""

    table: Path | None = None  # a table with the columns task (or idx) and image (encoded bytes), or a folder of images
    size: int | None = None  # width and height to scale to; None: unchanged
    skip: bool = False  # leave out images that cannot be read
    of_input: bool = False  # use the images of the data set, also if it has features
    can_be_given: bool = True  # whether the caller takes a table or folder of images; else only data sets with images


@dataclass(frozen=True)
class InputChoice:
    """Which inputs a net is given: `features` are a file or columns of the items, comma-separated; "": see the module.

    `reads` is what the net reads of texts; `letters` are the letters of a word in the rows of tokens. An `encoding` that was
    fitted before, such as that of a trained net, takes the place of both and of columns. `images_first` takes images rather
    than features if there are both.
    """

    features: str = ""
    reads: TextInput = "words"
    letters: int = 15
    encoding: "InputEncoding | None" = None
    images_first: bool = False


@dataclass(frozen=True, eq=False)
class TaskInputs:
    """The inputs of tasks as read: numbers, or the cells of columns that `encoding` makes numbers of."""

    tasks: Names  # (n,)
    x: NDArray[Any]  # (n, ...)
    encoding: "InputEncoding | None" = None
    features: "Features | None" = None  # which may have splits and gold labels of their own


def read_task_inputs(data: "Dataset", pictures: Pictures | None, choice: InputChoice | None, note: Note) -> TaskInputs:
    """Return the inputs of the tasks of a data set; InputError if it has none. Without `choice` texts are not read.

    `note` is called with what was used if the data set has several inputs, and with images that are left out.
    """
    pictured = pictures is not None and (pictures.table is not None or pictures.of_input)
    if choice is not None and choice.encoding is not None and not Path(choice.features).is_file():
        return _cells_of_columns(data, choice.encoding)
    if choice is not None and choice.features:
        if pictured:
            raise InputError(
                "features and images are given as inputs; give only one of features (--features) and --images"
            )
        return _features_of_file_or_columns(data, choice.features)
    if pictures is not None and (pictured or (choice is not None and choice.images_first and has_images(data))):
        return _images(data, pictures, note)
    if choice is not None and choice.reads != "words" and (encoding := _encoding_of_texts(data, choice)) is not None:
        return _cells_of_columns(data, encoding)
    if data.features is not None:
        if has_images(data) and pictures is not None:
            note(f"{data.name} has features and images; the features are used: --images uses the images")
        return TaskInputs(data.features.tasks, data.features.x, features=data.features)
    if pictures is not None and has_images(data):
        return _images(data, pictures, note)
    if choice is not None and (encoding := _encoding_of_texts(data, choice)) is not None:
        note(
            f"{data.name} has no features; inputs are TF-IDF weights of the words in the column {encoding.columns[0]}, learned "
            "from the training texts (--features takes better ones, such as embeddings)"
        )
        return _cells_of_columns(data, encoding)
    raise _no_inputs_error(data, pictures, choice)


def has_images(data: "Dataset") -> bool:
    """Return whether a data set has images: files, or a column image in its items."""
    return data.images is not None or (data.items is not None and "image" in data.items.columns)


def _features_of_file_or_columns(data: "Dataset", given: str) -> TaskInputs:
    """Return the features in a file, or else the columns of numbers of the items whose names are given, comma-separated."""
    from plurivox.io.features import names_of_number_columns, read_features

    if Path(given).is_file():
        features = read_features(Path(given), data.items)
        return TaskInputs(features.tasks, features.x, features=features)
    from plurivox.train.data.input_encodings import StandardisedColumns

    names = tuple(name.strip() for name in given.split(",") if name.strip())
    known = names_of_number_columns(data.items)
    if absent := [name for name in names if name not in known]:
        raise InputError(
            f"no file of features, and no column of numbers in the items of {data.name}: {first_few(absent)}; its "
            f"columns of numbers are: {first_few(known, 9) or 'none'}"
        )
    return _cells_of_columns(data, StandardisedColumns(names))


def _cells_of_columns(data: "Dataset", encoding: "InputEncoding") -> TaskInputs:
    """Return the cells of the columns of an encoding, one row per task; encoded if the encoding is fitted."""
    from plurivox.io.features import number_cells_of_items, text_cells_of_items
    from plurivox.train.data.input_encodings import StandardisedColumns

    items = data.items
    absent = [name for name in ("task", *encoding.columns) if items is None or name not in items.columns]
    if items is None or absent:
        raise InputError(f"the items of {data.name} have no column {first_few(absent)}, which the net reads")
    read_cells = number_cells_of_items if isinstance(encoding, StandardisedColumns) else text_cells_of_items
    tasks, cells = read_cells(items, encoding.columns, f"the items of {data.name}")
    return TaskInputs(tasks, encoding.encode(cells) if encoding.is_fitted else cells, encoding)


def _encoding_of_texts(data: "Dataset", choice: InputChoice) -> "InputEncoding | None":
    """Return the encoding of the texts of a data set that the net reads; None if it has none.

    InputError if it has texts, but not in the columns that the net needs.
    """
    from plurivox.io.task_contents_reader import text_column
    from plurivox.train.data.input_encodings import TokenCodes, WordPairCodes, WordWeights

    items = data.items
    if items is None or "task" not in items.columns:
        return None
    text = text_column(items)
    if choice.reads == "words":
        return None if text is None else WordWeights((text,))
    needed = TOKEN_COLUMNS if choice.reads == "tokens" else PAIR_COLUMNS
    if set(needed) <= set(items.columns):
        return TokenCodes(needed, letters=choice.letters) if choice.reads == "tokens" else WordPairCodes(needed)
    if text is None or data.features is not None:
        return None
    raise InputError(
        f"the net reads {choice.reads}, for which the items need the columns {', '.join(needed)}; those of {data.name} are "
        f"{first_few(items.columns, 6)}: rename them, or use another net, such as mlp"
    )


def _images(data: "Dataset", pictures: Pictures, note: Note) -> TaskInputs:
    """Return the pixels of the images in a table or folder, else of the data set; InputError if there are none."""
    from plurivox.io.task_contents_reader import read_task_images
    from plurivox.train.data.decode_images import decode

    tasks, images = read_task_images(data, pictures.table)
    if not len(tasks):
        raise InputError(f"{data.name} has no images; give a table or a folder of them (--images FILE)")
    found = decode(images, tasks, size=pictures.size, damaged="skip" if pictures.skip else "error")
    if n := len(found.damaged):
        note(f"left out, because they cannot be read: {count_text(n, 'image')}, {first_few(found.damaged)}")
    return TaskInputs(found.tasks, found.x)


def _no_inputs_error(data: "Dataset", pictures: Pictures | None, choice: InputChoice | None) -> InputError:
    """Return the error for a data set without inputs, with what could be given."""
    if pictures is None:
        return InputError(f"{data.name} has no features to train on; it contains {', '.join(data.parts())}")
    from plurivox.io.features import names_of_number_columns

    numbers = names_of_number_columns(data.items) if choice is not None else []
    columns = f"name columns of numbers (--features {','.join(numbers[:3])}), " if numbers else ""
    images = (
        "or give images to train (--images FILE, a table or a folder)"
        if pictures.can_be_given
        else "or give a data-set folder with a folder images, or a folder of images per label"
    )
    return InputError(
        f"{data.name} has neither features nor images{' nor texts' if choice is not None else ''} to train on; {columns}add "
        f"features.npz (arrays x, one row per task, and task) to its folder, {images}"
    )
