# SPDX-License-Identifier: Apache-2.0
"""A guard on ordinary days: cells in which its service has room, or is near the end of it."""

from streams import GUARD, Cell, Lane, Part, held

# A service whose slots its calls want, of 40 ms each: it can do 200 calls a second.
SLOTS = 8
WORK_MS = 40
EVERY_MS = 300


def unary(text, callers, work_ms, seconds, every_ms=0, **more):
    return Lane('unary', text, callers, (work_ms,), seconds, every_ms, deadline_ms=2000, **more)


def slow(times, after):
    """200 calls/s of 20 ms, which take `times` as long from second 5 to 25."""
    text = f'200 calls/s of 20 ms that take {times} times as long for 20 s'
    return Part(unary(text, 60, 20, 25, EVERY_MS, apart_ms=5, open=True, slower=(5, 25, times)),
                after=5 + after, text=f'after {after} s')


def load(share, **more):
    callers = round(share * SLOTS / WORK_MS * EVERY_MS)
    lane = unary(f'{share:g} x of what {SLOTS} slots can do', callers, WORK_MS, 20, EVERY_MS, apart_ms=5,
                 open=True)
    return Part(lane._replace(deadline_ms=1000), slots=SLOTS, **more)


def spread(name, share, mean_ms, slots, delays_ms, **more):
    """Calls whose times vary, at a share of what the service can do."""
    callers = round(share * slots / mean_ms * EVERY_MS)
    lane = unary(f'{share:g} x of what {slots} slots can do', callers, mean_ms, 20, EVERY_MS,
                 apart_ms=EVERY_MS / callers, open=True, spread=name)
    return Part(lane._replace(delays_ms=delays_ms, deadline_ms=1000), slots=slots, **more)


def heavy(share, **more):
    return spread('bimodal', share, 0.95 * 5 + 0.05 * 200, 4, (5, 200), **more)


CELLS = (
    Cell('w1', 'A dependency gets slow, and nothing waits inside of the service', GUARD, (
        Part(unary('40 callers whose calls of 10 ms take 300 ms', 40, 10, 25, slower=(5, 25, 30)), after=13,
             text='after 8 s'),
        slow(2, 3), slow(3, 3), slow(10, 5),
    ), limiters=True),
    Cell('w1b', 'Calls of 5 ms, of which one in twenty takes 200 ms', GUARD, tuple(
        heavy(share, after=3, less=0.05) for share in (0.9, 1.5, 3, 10)), limiters=True),
    Cell('w1c', 'Calls of 80 ms on average, spread exponentially, from the first second on', GUARD, (
        spread('exponential', 0.9, 80, 16, (80,), less=0.01),), limiters=True),
    Cell('w3', 'A guard that has just begun, before an application that has room', GUARD, (
        Part(unary('30 calls/s of 1.5 s', 45, 1500, 20, 1500, apart_ms=33)),
        Part(unary('100 calls/s of 300 ms', 30, 300, 20, 300, apart_ms=10)),
        *(Part(unary(f'{callers} callers of 1 s, 60 slots', callers, 1000, 20, 1000)._replace(deadline_ms=5000),
               slots=60, after=3, text='from second 3 on', less=less)
          for callers, less in ((50, 0.05), (120, 0.03))),
    ), limiters=True),
    Cell('w4', 'Long polls behind a guard, and unary calls beside them', GUARD, (
        Part(Lane('unary', 'unary calls of 5 ms', 10, (5,), 20, 100, deadline_ms=2000),
             held('poll', '60 polls of 5 s', 60)._replace(apart_ms=5, poll_seconds=5), after=3),
    ), limiters=True),
    Cell('w5', 'A limit of 20 before a service of 4 slots, from second 3 on', GUARD, tuple(
        spread('', 3, work_ms, 4, (work_ms,), after=3, text=f'{work_ms} ms a call')
        for work_ms in (10, WORK_MS)), limiters=True),
    Cell('w5-slow', 'A service of few slots whose calls take long, from second 3 on', GUARD, (
        *(spread('', share, 100, 2, (100,), after=3, text='100 ms a call') for share in (0.9, 1.5)),
        spread('', 1.5, 200, 4, (200,), after=3, text='200 ms a call')), limiters=True),
    Cell('w6', 'Below the capacity', GUARD, (load(0.5), load(0.9, less=0.005)), limiters=True),
    Cell('w6-spread', 'Below the capacity, with times that are spread exponentially', GUARD, tuple(
        spread('exponential', share, 20, slots, (20,), after=2, less=less)
        for share, slots, less in ((0.5, 8, 0.001), (0.9, 4, 0.07), (0.9, 8, 0.025), (0.9, 16, 0.005))),
         limiters=True),
    Cell('w7', 'The application stops for 300 ms at half of its load', GUARD, (load(0.5, stop=(6, 0.3)),),
         limiters=True),
    Cell('w9', 'Above the capacity; directly nearly all calls are late', GUARD,
         (load(1.2, after=3), load(1.6, after=3)), limiters=True),
)
