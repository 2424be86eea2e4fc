"""Form that reads each answer with the form named in the column `form` of the answers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError, OptionError, first_few, unknown_name_error
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.name_encoding import distinct_names, encode
from plurivox.elicit._contract import Form, Shares, methods


@dataclass(frozen=True)
class FormColumn(Form):
    """Read each answer with the form it was asked in, as given by the `form` column of the answers.

    The option `forms` lists forms with options other than their defaults.

    >>> form = np.array(["one-label", "ranking"], dtype=np.dtypes.StringDType())
    >>> marks = [[("named", "cat", "")], [("named", "cat", ""), ("named", "dog", "")]]
    >>> answers = Answers.of(task=["a", "b"], worker=["v", "w"], marks=marks, form=form)
    >>> FormColumn(forms="ranking[weights=borda]").read(answers).votes.counts().round(3)
    array([[1.   , 0.   ],
           [0.667, 0.333]])
    """

    former_names: ClassVar[tuple[str, ...]] = ("as-asked",)

    forms: str = option(
        "", "comma-separated forms with options, such as ranking[ratio=0.3]; other forms use their defaults"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [form.name() for form in map(methods.make, split_at_commas_outside_brackets(self.forms))]
        if self.name() in names:
            raise OptionError(f"{self.name()} cannot be in its own list of forms; remove it from the option forms")
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise OptionError(f"{first_few(twice)} is listed more than once in the option forms; list each form once")

    def _parse_forms_option_by_form_name(self) -> dict[str, Form]:
        """Return a dict from the name of a form to the form with its options, parsed from the option `forms`."""
        forms = map(methods.make, split_at_commas_outside_brackets(self.forms))
        return {form.name(): form for form in forms}

    def explain(self) -> str:
        return "Each answer is read with the form it was asked in."

    def shares(self, answers: Answers) -> Shares:
        if answers.form is None:
            raise InputError("these answers have no form column; name the form instead of form-column, such as top-two")
        code, asked = encode(answers.form)
        with_options = self._parse_forms_option_by_form_name()
        flags = np.zeros(len(answers), np.uint32)
        parts: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for place, name in enumerate(asked.tolist()):
            if not name:
                at = first_few(distinct_names(answers.tasks[answers.task[code == place]]))
                raise InputError(f"some answers have an empty form; fill the form column for the tasks {at}")
            if name not in methods or name == self.name():
                raise unknown_name_error("form", name, methods)
            mine = code == place
            found = (with_options.get(name) or methods.make(name)).shares(answers.where(mine))
            rows = np.flatnonzero(mine)
            flags[rows] = found.flags
            parts.append((rows[found.answer], found.label, found.weight))
        answer, label, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((label, answer))
        return Shares(answer[order], label[order], weight[order], flags)
