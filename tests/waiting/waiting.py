# SPDX-License-Identifier: Apache-2.0
"""How tests wait for what nobody tells them of: the state of another program, which they have to ask for.
Nothing else in the tests of Python sleeps (tests/structure/rules.py). Where there is an event, wait for
that."""

import time

# Ends what hangs, and decides nothing else: no machine is so busy that what a test waits for takes as long.
WATCHDOG_SECONDS = 300
_PAUSE_SECONDS = 0.02


def until(condition):
    """Asks until the answer is true, and returns it; what it was last when the watchdog's time is over."""
    end = time.monotonic() + WATCHDOG_SECONDS
    while not (answer := condition()) and time.monotonic() < end:
        time.sleep(_PAUSE_SECONDS)
    return answer
