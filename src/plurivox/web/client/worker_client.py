"""HTTP client of the studio's API for one worker; it keeps every answer until the server has acknowledged it."""

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Any

import httpx

RETRY_STATUSES = {408, 429, 502, 503, 504}


class Rejected(Exception):
    """The server rejected a request and a retry cannot help; has `status` and `body` of the response."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"{status} {body.get('error')}: {body.get('detail')}")
        self.status, self.body = status, body


@dataclass
class Client:
    """A worker's session with the studio. `http` is an httpx.AsyncClient whose base_url is the studio's."""

    http: httpx.AsyncClient
    token: str = ""
    patience: float = 30.0  # seconds to retry if the server cannot be reached
    outbox: dict[str, dict[str, Any]] = field(default_factory=dict)  # answers not acknowledged yet, by key
    acknowledged: list[str] = field(default_factory=list)  # keys of acknowledged answers
    personal_link: str = ""
    # makes `enter_study` repeatable if its response was lost
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    async def send_request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the JSON body; retry for `patience` seconds if the server is unreachable or busy."""
        loop, wait = asyncio.get_running_loop(), 0.05
        end = loop.time() + self.patience
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        while True:
            try:
                answer = await self.http.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                if loop.time() > end:
                    raise
            else:
                if answer.is_success:
                    self.token = answer.headers.get("X-Plurivox-Bearer", self.token)
                    return answer.json() if answer.content else None
                if answer.status_code not in RETRY_STATUSES or loop.time() > end:
                    raise Rejected(answer.status_code, answer.json())
            await asyncio.sleep(wait)
            wait = min(1.0, wait * 2)

    async def enter_study(self, **invite_platform_or_link: Any) -> dict[str, Any]:
        """Enter the study by invite=, platform= or link=; keep the token and return the worker's state."""
        found: dict[str, Any] = await self.send_request(
            "POST", "/api/enter", {**invite_platform_or_link, "key": self.key}
        )
        self.token, self.personal_link = found["token"], found["personal_link"]
        return found["me"]

    async def get_state(self) -> dict[str, Any]:
        """Request and return the worker's current state: stage, progress, labels, texts."""
        return dict(await self.send_request("GET", "/api/me"))

    async def finish_stage(self, stage: str, **more: Any) -> dict[str, Any]:
        """Report a stage such as the quiz as finished; return the worker's new state and the mistakes in the quiz."""
        try:
            return dict(await self.send_request("POST", "/api/me/stage", {"stage": stage, **more}))
        except Rejected as cause:  # finished before, but the response was lost
            if cause.body.get("error") == "wrong-stage":
                return {"me": cause.body["me"], "wrong": [], "why": []}
            raise

    async def lease_tasks(self, n: int = 3) -> dict[str, Any]:
        """Lease the next `n` tasks for this worker and return them."""
        return dict(await self.send_request("GET", f"/api/tasks?n={n}"))

    async def submit_answer(self, slot: str, marks: list[dict[str, str]], **more: Any) -> dict[str, Any]:
        """Submit an answer to the task of a slot and return the acknowledgement; until then the answer stays in `outbox`."""
        key = more.pop("key", None) or secrets.token_urlsafe(12)
        self.outbox[key] = {"key": key, "slot": slot, "marks": marks, **more}
        taken = await self.send_request("POST", "/api/answers", self.outbox[key])
        del self.outbox[key]
        self.acknowledged.append(key)
        return dict(taken)

    async def get_completion(self) -> dict[str, Any]:
        """Request and return the worker's completion code or redirect address, at the last stage."""
        return dict(await self.send_request("POST", "/api/done"))
