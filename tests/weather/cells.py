# SPDX-License-Identifier: Apache-2.0
"""Ordinary days: what some of the instances of a service do, and how the calls fare."""

import math
from typing import NamedTuple


class Cell(NamedTuple):
    name: str
    text: str
    instances: int
    bad: int  # The first ones are bad, from `calm` on for `fault`.
    stops: bool  # They stand still, in place of answering UNAVAILABLE at once.
    failing: float = 1  # The share of the calls that they answer so.
    per_second: float = 30
    calm: float = 5  # Here and below: seconds.
    fault: float = 60
    after: float = 15
    deadline_ms: int = 2000
    learnt: float = 2  # The figure of `later` begins so long after the fault has.
    sidecars: int = 1  # Each has a caller of its own, and its part of the calls.
    vanish: bool = False  # They lose their power: their packets are lost, and so are those to them.

    def seconds(self):
        return self.calm + self.fault + self.after


def rollout(bad, instances, per_second, **more):
    return Cell(f'e18-{bad}-of-{instances}-{per_second}',
                f'{bad} of {instances} instances answer UNAVAILABLE at once, {per_second} calls/s',
                instances, bad, False, per_second=per_second, **more)


def dark(bad, instances, per_second, fault):
    return Cell(f'e5-{bad}-of-{instances}-{fault:g}',
                f'{bad} of {instances} instances lose their power, {per_second} calls/s', instances, bad, False,
                per_second=per_second, fault=fault, learnt=1.5, vanish=True)


CELLS = (
    *(rollout(bad, instances, per_second)
      for per_second in (30, 300) for bad, instances in ((1, 3), (2, 3), (3, 4), (3, 5), (9, 10))),
    rollout(2, 3, 1, learnt=12),
    *(Cell(f'e5b-{seconds}', f'1 of 2 instances stands still for {seconds} s, 60 calls/s', 2, 1,
           True, per_second=60, fault=seconds, learnt=1.5) for seconds in (0.3, 1, 3, 10)),
    Cell('e3', 'all calls fail for 1 s, 150 calls/s', 1, 1, False, per_second=150, calm=30, fault=1,
         deadline_ms=5000, learnt=0),
    *(Cell(f'e11-{round(100 * share)}', f'{share:.0%} of 500 calls/s fail', 1, 1, False, share, 500)
      for share in (0.1, 0.3)),
    Cell('e15b', '30% of 10 calls/s fail', 1, 1, False, 0.3, 10, fault=300, deadline_ms=1000),
    Cell('e6', '1 of 3 instances takes calls and answers none, 30 calls/s', 3, 1, True,
         learnt=3),
    Cell('e6-30', '1 of 3 instances takes calls and answers none, 30 sidecars of 1 call/s', 3, 1, True,
         learnt=3, sidecars=30),
    *(Cell(f'e17-{per_second}-{instances}', f'Nothing is wrong: {per_second} calls/s to {instances} endpoints',
           instances, 0, False, per_second=per_second, fault=30, after=1) for per_second, instances in (
               (1, 1), (100, 1), (100, 20), (2000, 1))),
    dark(1, 2, 60, 20), dark(1, 3, 100, 20), dark(1, 2, 60, 1.2), dark(1, 2, 60, 3),
)


class Ended(NamedTuple):
    at: float  # Seconds since the beginning, when it began.
    good: bool
    took_ms: float


class Share(NamedTuple):
    good: int
    calls: int

    def value(self):
        return self.good / self.calls if self.calls else 1


def share(calls, begin, end):
    """Of the calls that began from `begin` to `end`."""
    goods = [call.good for call in calls if begin <= call.at < end]
    return Share(sum(goods), len(goods))


def difference(one, other):
    """Returns the 95% interval of one share less the other, after Newcombe (1998), method 10."""
    def wilson(each):
        if not each.calls:
            return 0, 1
        n, p, z = each.calls, each.value(), 1.96
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return middle - half, middle + half

    (low, high), (other_low, other_high) = wilson(one), wilson(other)
    p, q = one.value(), other.value()
    return (p - q - math.hypot(p - low, other_high - q), p - q + math.hypot(high - p, q - other_low))


def percentile(calls, part):
    """Of the milliseconds of the calls that succeeded."""
    took = sorted(call.took_ms for call in calls if call.good)
    return took[min(int(part * len(took)), len(took) - 1)] if took else math.nan
