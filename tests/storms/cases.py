# SPDX-License-Identifier: Apache-2.0
"""The storms, and the figures that are computed from each."""

import math
from typing import Callable, NamedTuple

NEVER = math.inf


class Record(NamedTuple):
    arrived: list  # The calls that arrived at the service in each tenth of a second.
    calls: list  # (milliseconds since the beginning, whether it succeeded) of each caller's call.

    def attempts(self, begin, end):
        """Here and below, from and to a time in seconds."""
        return sum(self.arrived[round(10 * begin):round(10 * end)])

    def begun(self, begin, end):
        return [good for at, good in self.calls if 1000 * begin <= at < 1000 * end]

    def per_call(self, begin, end):
        calls = len(self.begun(begin, end))
        return self.attempts(begin, end) / calls if calls else 0

    def good(self, begin, end):
        calls = self.begun(begin, end)
        return sum(calls) / len(calls) if calls else 0


def first_second(record, case):
    return record.per_call(case.calm, case.calm + 1)


def worst_second(record, case):
    return max(record.per_call(case.calm + at, case.calm + at + 1)
               for at in range(math.ceil(case.fault)))


def whole_fault(record, case):
    return record.per_call(case.calm, case.calm + case.fault)


def five_seconds(record, case):
    return record.per_call(case.calm, case.calm + 5)


def good_in_fault(record, case):
    return record.good(case.calm, case.calm + case.fault)


def recovery(record, case):
    """Seconds from the end of the fault to the first of three seconds with 99% good calls."""
    end = case.calm + case.fault
    for tenth in range(10 * int(case.after - 3)):
        at = end + tenth / 10
        if all(record.good(at + i, at + i + 1) >= 0.99 for i in range(3)):
            return at - end
    return NEVER


class Figure(NamedTuple):
    title: str
    of: Callable
    show: Callable


def ratio(value):
    return f'{value:.2f}'


def share(value):
    return f'{100 * value:.1f}%'


def seconds(value):
    return 'never' if value == NEVER else f'{value:.1f} s'


FIRST_SECOND = Figure('attempts per call, first second', first_second, ratio)
WORST_SECOND = Figure('worst second', worst_second, ratio)
WHOLE_FAULT = Figure('whole fault', whole_fault, ratio)
FIVE_SECONDS = Figure('attempts per call in 5 s', five_seconds, ratio)
GOOD = Figure('good calls', good_in_fault, share)
RECOVERY = Figure('recovery', recovery, seconds)


class Case(NamedTuple):
    name: str
    title: str
    text: str
    figures: tuple
    per_second: float = 500  # Of all callers together.
    sidecars: int = 1
    slots: int = 1000
    work_ms: float = 5
    failing: float = 0
    slots_down: float = 0
    calm: float = 6  # Here and below: seconds.
    fault: float = 10
    after: float = 1
    deadline_ms: int = 1000
    timeouts: bool = False  # Proxies give up an attempt after `attempt_ms`, and retry it.
    attempt_ms: int = 250

    def service(self):
        return ['--slots', str(self.slots), '--work-ms', str(self.work_ms), '--failing',
                str(self.failing), '--slots-down', str(self.slots_down), '--calm', str(self.calm),
                '--fault', str(self.fault), '--after', str(self.after)]

    def seconds(self):
        return self.calm + self.fault + self.after


ATTEMPTS = (FIRST_SECOND, WORST_SECOND, WHOLE_FAULT)
NEARLY_FULL = {'per_second': 368, 'slots': 40, 'work_ms': 100, 'timeouts': True,
               'figures': (RECOVERY, GOOD, WHOLE_FAULT), 'calm': 12, 'after': 30}

CASES = (
    Case('outage', 'An outage of 10 s', 'One sidecar with 500 calls/s; every call fails.',
         ATTEMPTS, failing=1),
    Case('fleet', 'An outage of 20 s of a quiet fleet',
         '20 sidecars with 1.3 calls/s each; every call fails.', ATTEMPTS, per_second=26,
         sidecars=20, failing=1, fault=20),
    Case('tenth', 'A tenth of the calls fails', '500 calls/s for 10 s.', (GOOD, WHOLE_FAULT),
         failing=0.1, calm=11),
    Case('half', 'Half of the calls fail', '500 calls/s for 10 s.', (GOOD, *ATTEMPTS),
         failing=0.5, calm=11),
    Case('moment', 'Everything fails for 300 ms',
         '500 calls/s with deadlines of 5 s: the calls that begin in this time, and the attempts '
         'per call over 5 s.', (GOOD, FIVE_SECONDS), failing=1, fault=0.3, after=6,
         deadline_ms=5000),
    Case('cut', 'A busy service has half of its capacity for 2 s',
         '368 calls/s for a service that can do 400/s, works on calls whose callers have gone, and '
         'has no bound on its line. A call has 1 s; a proxy gives up an attempt after 250 ms and '
         'retries it; without a proxy a call has 250 ms.', slots_down=0.5, fault=2, **NEARLY_FULL),
    Case('cut-fleet', 'The same from 30 sidecars', 'The same service and calls.', slots_down=0.5, fault=2,
         **{**NEARLY_FULL, 'sidecars': 30}),
    Case('dip', 'A busy service has 85% of its capacity for 10 s', 'The same service and calls.',
         slots_down=0.15, fault=10, **NEARLY_FULL),
)
