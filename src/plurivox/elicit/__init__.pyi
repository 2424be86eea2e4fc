# made by `make stubs`
from plurivox.elicit._contract import *
from plurivox.elicit._contract import methods as methods
from plurivox.elicit.also_possible import AlsoPossible as AlsoPossible
from plurivox.elicit.form_column import FormColumn as FormColumn
from plurivox.elicit.histogram import Histogram as Histogram
from plurivox.elicit.not_these import NotThese as NotThese
from plurivox.elicit.one_label import OneLabel as OneLabel
from plurivox.elicit.ranking import Ranking as Ranking
from plurivox.elicit.select_top_two import SelectTopTwo as SelectTopTwo
from plurivox.elicit.top_one import TopOne as TopOne
from plurivox.elicit.top_two import TopTwo as TopTwo
