# SPDX-License-Identifier: Apache-2.0
"""What a new user meets: cells of a service that is not there, or not yet, and of limits."""

from streams import EGRESS, HOUR_MS, UNARY, Cell, Lane, Part, held


def first(text, deadline_ms, **more):
    """The first call of each of 20 sidecars."""
    lane = Lane('unary', text, 20, (0,), apart_ms=20, deadline_ms=deadline_ms)
    return Part(lane, sidecars=20, **{'ends': ('UNAVAILABLE', 0, 100), 'alike': True, **more})


def metadata(where, kib):
    lane = Lane('unary', f'{kib} KiB of {where}', 5, (0,), 30, 200, deadline_ms=2000)
    return Part(lane._replace(**{where: kib * 1024}))


WAITS = first('the same with connect_wait, and gRPC that waits', 8000, service='late',
              upstream=', connect_wait: 10s', ends=('OK', 0, 8000))

CELLS = (
    Cell('e15', 'The first call to a port where nothing listens; good is UNAVAILABLE within 100 ms', EGRESS,
         (first('deadline 2 s', 2000, service='none'),), retries=True),
    Cell('e15-name', 'The first call to a name that is unknown; good is UNAVAILABLE within 100 ms', EGRESS,
         (first('deadline 2 s', 2000, service='unknown'),)),
    Cell('e7', 'The first call to a service that starts 4 s later; good is UNAVAILABLE within 100 ms', EGRESS, (
        first('deadline 8 s', 8000, service='late'),
        WAITS._replace(calls=WAITS.calls._replace(wait=True)),
    )),
    Cell('e9', 'Many streams on the channel of unary calls', EGRESS, (
        Part(UNARY, held('output', '1300 quiet streams', 1300, 0, HOUR_MS)._replace(apart_ms=1), together=True),
    )),
    Cell('e10', 'Long metadata that gRPC takes', EGRESS, tuple(
        metadata(where, kib) for where in ('head', 'trailer') for kib in (16, 63)),
         retries=True, quiet=True),
)
