"""The pages themselves: `/join` and `/work` for workers, `/owner` for owners, `/static`.

Pages hold no data; their scripts fetch it from `/api`. An invite link is BASE/join#invite=..., a personal link
BASE/join#link=...: what follows # stays in the browser and out of every log. Prolific's is BASE/join?PROLIFIC_PID=...
"""

from fastapi import APIRouter

router = APIRouter(include_in_schema=False)
