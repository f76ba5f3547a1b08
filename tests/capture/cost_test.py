# SPDX-License-Identifier: Apache-2.0
"""What a captured connection costs, by counts that do not depend on the machine. cost.py has the
times."""

import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'bench'))

try:
    import hpack  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')

import callgrind
import cost

# What the start takes is in all counts alike.
CONNECTIONS, MORE_CONNECTIONS = 40, 240
CALLS, MORE_CALLS = 1000, 5000
# About 2 us. 50 us are promised, with the share of the kernel.
MOST_MORE = 6_000


def executed(path, connections, calls):
    """Returns the instructions of Levee for that many of both."""
    with tempfile.TemporaryDirectory(prefix='levee-capture-') as scratch:
        counts = pathlib.Path(scratch) / 'callgrind.out'
        before = callgrind.command(counts, ())
        with cost.Arena(scratch, before, ('--keep-code-pages',)) as arena:
            arena.connect(path, connections)
            arena.call(path, calls)
        return callgrind.total(counts, arena.levee.output())


@unittest.skipUnless(shutil.which('valgrind'), 'valgrind is not installed')
class Cost(unittest.TestCase):

    def test_p5_a_captured_connection_costs_little_more_and_its_calls_no_more(self):
        connection, call = {}, {}
        for path in cost.PATHS:
            few = executed(path, CONNECTIONS, CALLS)
            connection[path] = (executed(path, MORE_CONNECTIONS, CALLS) - few) / (
                MORE_CONNECTIONS - CONNECTIONS)
            call[path] = (executed(path, CONNECTIONS, MORE_CALLS) - few) / (MORE_CALLS - CALLS)
        print(f'instructions per connection {connection}, per call {call}')
        self.assertLess(connection['captured'] - connection['direct'], MOST_MORE)
        self.assertLess(call['captured'] / call['direct'], 1.03)


if __name__ == '__main__':
    unittest.main()
