# SPDX-License-Identifier: Apache-2.0
"""What a retry may cost on ordinary days: cells of calls whose first tries fail."""

from streams import EGRESS, Cell, Lane, Part

# The default backoff has full jitter: at most so many milliseconds before the next retries, in all.
BACKOFF_MS = (0, 25, 75, 175)
# The last attempt of a call is held until a call succeeds, and no longer than this.
HELD_MS = 1200


def lone(attempts, tries, every, calls, attempt_ms=0):
    """`calls` calls of each of four lone callers meet the fault, the first on a fresh sidecar."""
    held = HELD_MS if tries == attempts - 1 or attempt_ms else 100
    verb = f'hang, {attempt_ms} ms for an attempt' if attempt_ms else 'fail'
    lane = Lane('unary', f'calls of which {tries} {"try" if tries == 1 else "tries"} {verb}', 4, (5,),
                every * (calls - 1) + 1, 1000, apart_ms=230, deadline_ms=5000, tries=tries,
                tries_every=every, hang=bool(attempt_ms))
    return Part(lane, text=f'{attempts} attempts', sidecars=4, attempts=attempts, attempt_ms=attempt_ms,
                ends=('OK', 0, tries * attempt_ms + BACKOFF_MS[tries] + held))


def twice(callers, name, **more):
    """All calls fail for 1 s, and again 3 s later."""
    lane = Lane('unary', name, callers, (5,), 40, 1000, apart_ms=1000 // callers, deadline_ms=5000, open=True,
                faults=((30, 31), (34, 35)))
    return Part(lane, **more)


def busy(text, **more):
    return Lane('unary', text, 50, (5,), 30, 1000, apart_ms=20, deadline_ms=5000, open=True, pool=64, **more)


# A wait ends 1.1 s after the first failure, and 2 s after a connection was lost.
HEALTHY = busy('to the healthy one', faults=((4, 6.2),), apart=True)

CELLS = (
    Cell('e1', 'A lone caller, once a second, and every 31st call meets a fault; good through Levee: OK within '
         'its backoffs and 100 ms, its last attempt within 1.2 s', EGRESS, tuple(
             lone(attempts, tries, 31, 11) for attempts, tries in ((3, 1), (3, 2), (4, 1), (4, 2), (4, 3))),
         retries=True, quiet=True),
    Cell('e2', 'The same with tries that hang, and every 61st call', EGRESS, tuple(
        lone(3, tries, 61, 6, 200) for tries in (1, 2)), retries=True, quiet=True),
    Cell('e3-twice', 'Two faults of 1 s within 5 s, 150 calls/s', EGRESS, (
        twice(150, '150 calls/s'),
        twice(150, '150 calls/s', policy='retry: {budget: {ratio: 0.2}}', text='Levee with a ratio of 0.2'),
    ), retries=True, quiet=True),
    Cell('e4', 'Two faults of 1 s within 5 s, 16 sidecars of 1 call/s', EGRESS, (
        twice(16, '1 call/s each', sidecars=16),), retries=True, quiet=True),
    Cell('e8', 'A service refuses 3 of 10 streams', EGRESS, (
        Part(Lane('unary', '50 calls/s', 50, (), 400, 1000, apart_ms=20, deadline_ms=2000, open=True),
             refused=0.3),
    ), retries=True, quiet=True),
    Cell('e16', '64 threads make 50 calls/s to a service that dies after 4 s and 50 to a healthy one', EGRESS, (
        Part(busy('to one that answers UNAVAILABLE for 20 s', faults=((4, 24),)), beside=HEALTHY),
        Part(busy('to one whose process ends'), beside=HEALTHY, service='gone'),
    ), retries=True, quiet=True),
)
