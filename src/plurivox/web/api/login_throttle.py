"""Rate limits of password attempts, so that passwords cannot be guessed and strangers cannot lock an owner out.

An unknown address has a limit of attempts per minute, and for one name it waits longer after every wrong password: 1, 2, 4 ...
seconds after the fifth, 15 minutes at most. All unknown addresses together have a limit per name. An address from which an
owner has signed in before has a separate limit for that name, which strangers cannot use up.
"""

import time

from plurivox.web.api.rate_limit import MAX_NAMES, TokenBuckets

PER_ACCOUNT = 3  # the limit of a name, as a multiple of the limit of an address
FREE_ATTEMPTS = 5  # wrong passwords of one address for one name before it has to wait
MAX_WAIT, FORGET_AFTER = 900.0, 3600.0  # seconds
MAX_DOUBLINGS = 10  # of one second: more than MAX_WAIT


class LoginThrottle:
    """Counts password attempts; each counts as wrong until `forget_login_attempts_after_success` is called.

    >>> throttle = LoginThrottle(10)
    >>> attempt = throttle.count_login_or_return_seconds_to_wait
    >>> [attempt("olga", "192.0.2.1", known_address=False, time_now=0.0) for _ in range(6)]
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    >>> attempt("olga", "198.51.100.7", known_address=True, time_now=0.0)
    0.0
    """

    def __init__(self, per_minute: float) -> None:
        self.addresses = TokenBuckets(per_minute)
        self.accounts = TokenBuckets(PER_ACCOUNT * per_minute)
        self.known_addresses = TokenBuckets(per_minute)
        self._wrong: dict[
            tuple[str, str], tuple[int, float]
        ] = {}  # (name, address): number of attempts, time of the last

    def count_login_or_return_seconds_to_wait(
        self, name: str, address: str, *, known_address: bool, time_now: float | None = None
    ) -> float:
        """Return the seconds before a password of `name` may be tried from `address`; 0: now, and this attempt is counted."""
        time_now = time.monotonic() if time_now is None else time_now
        if known_address:
            return self.known_addresses.take_token_or_return_seconds_to_wait((name, address), time_now)
        n, last = self._wrong.get((name, address), (0, time_now))
        if time_now - last > FORGET_AFTER:
            n = 0
        backoff = min(2.0 ** min(n - FREE_ATTEMPTS, MAX_DOUBLINGS), MAX_WAIT)
        if n >= FREE_ATTEMPTS and (left := last + backoff - time_now) > 0:
            return left
        if left := self.addresses.take_token_or_return_seconds_to_wait(address, time_now):
            return left
        if left := self.accounts.take_token_or_return_seconds_to_wait(name, time_now):
            return left
        if len(self._wrong) >= MAX_NAMES:
            self._forget_old_or_excess_login_attempts(time_now)
        self._wrong[name, address] = n + 1, time_now
        return 0.0

    def forget_login_attempts_after_success(self, name: str, address: str, *, known_address: bool) -> None:
        """After a correct password: forget the counted attempts of `address` to sign in as `name`."""
        self._wrong.pop((name, address), None)
        if known_address:
            self.known_addresses.put_token_back((name, address))
        else:
            self.addresses.put_token_back(address)
            self.accounts.put_token_back(name)

    def _forget_old_or_excess_login_attempts(self, time_now: float) -> None:
        """Forget password attempts older than FORGET_AFTER seconds, and the older half if there are still too many."""
        fresh = {key: attempt for key, attempt in self._wrong.items() if time_now - attempt[1] <= FORGET_AFTER}
        if len(fresh) >= MAX_NAMES:
            fresh = dict(sorted(fresh.items(), key=lambda item: item[1][1])[MAX_NAMES // 2 :])
        self._wrong = fresh
