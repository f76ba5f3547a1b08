# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/operations.md are those of tests/bench/RESULTS.md, rounded: whoever measures
anew has to write them there too."""

import math
import re
import unittest

from documents import ROOT

RESULTS = (ROOT / 'tests/bench/RESULTS.md').read_text()
OPERATIONS = (ROOT / 'docs/operations.md').read_text()


def table(header):
    """The table with this first line: proxy -> column -> the number with which its cell begins."""
    rows = RESULTS[RESULTS.index(header):].split('\n\n')[0].splitlines()
    columns, _, *rest = [[cell.strip() for cell in row.strip('|').split('|')] for row in rows]
    return {name: {column: float(cell.split()[0]) for column, cell in zip(columns[1:], cells)
                   if re.match(r'\d', cell)} for name, *cells in rest}


def row(of):
    """What the table of docs/operations.md says of something."""
    return re.search(rf'^\| {re.escape(of)} \| (.*) \|$', OPERATIONS, re.MULTILINE)[1]


class Sizing(unittest.TestCase):

    def setUp(self):
        self.cpu = table('| proxy | 4x32')
        self.calls = table('| proxy | single call p50')

    def test_cpu_per_call(self):
        busy = [self.cpu['levee'][load] for load in ('4x32', '1x100', '50x10')]
        low, high = math.floor(min(busy)), math.ceil(max(busy))
        self.assertEqual(row('CPU per call, busy connections'),
                         f'{low} to {high} µs: 1000 calls a second take {low / 10} to {high / 10}% '
                         'of a CPU')
        self.assertEqual(row('CPU per call, one call at a time'),
                         f'{self.cpu["levee"]["1x1"]:.0f} µs, most of it the kernel\'s')
        self.assertGreater(self.cpu['relay']['1x1'], self.cpu['levee']['1x1'] / 2)
        self.assertEqual(row('CPU per call of 1 MiB each way'),
                         f'{self.cpu["levee"]["1MiB"] / 1000:.0f} ms')

    def test_added_latency(self):
        added = {proxy: self.calls[proxy]['single call p50, us']
                 - self.calls['direct']['single call p50, us'] for proxy in ('levee', 'relay')}
        self.assertEqual(row('added latency, median'),
                         f'{added["levee"]:.0f} µs, of which a bare TCP relay takes '
                         f'{added["relay"]:.0f}')

    def test_memory(self):
        levee = self.calls['levee']
        self.assertEqual(row('memory, idle'), f'{levee["RSS idle, MiB"]:.0f} MiB')
        self.assertEqual(row('memory, highest in the benchmark'),
                         f'{levee["RSS max, MiB"]:.0f} MiB')
        connection = re.search(r'idle connections, .*: ([\d.]+) KiB of RSS each', RESULTS)[1]
        self.assertEqual(row('memory, for each idle connection of a caller'),
                         f'{float(connection):.0f} KiB')

    def test_a_worker_can_carry_what_is_said_of_it(self):
        said = re.search(r'One worker, .*, carries some ([\d,]+) small calls a second', OPERATIONS)
        capacity = 1e6 / max(self.cpu['levee'][load] for load in ('4x32', '1x100', '50x10'))
        self.assertLess(float(said[1].replace(',', '')), capacity)


if __name__ == '__main__':
    unittest.main(verbosity=2)
