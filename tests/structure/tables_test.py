#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks lists that name code. Each row of docs/limits.md about tables that peers fill has a test that
fills it, each bug of `make mutation` replaces something that is there, and each class of Python that
the build runs as a test is in its file."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'tests/mutation'))
import mutants

HEADING = '### Tables that peers fill'

# By the first column of the list.
FILLED_BY = {
    'connections that carry nothing': 'HeldConnections.ThoseThatCarryNothingMakeRoomForNewCallers',
    'requests kept for retries':
        'ReplayMemory.ManyWhoTakeAllThatTheyMayLeaveRoomForCallersThatKeepLittle',
    'destinations': 'CallerTables.TheDestinationsOfCallsTakeAnEighthOfTheMemoryAndTheOldestGoes',
    'their budgets and throttles': 'BudgetTable.MakingUpAuthoritiesResetsNoAccountAndGivesNoMoreFloors',
    'routes of calls seen before': 'PlanCacheTest.ThePlansTakeAtMostEightMebibytes',
    'keys of rate limits': 'BucketTable.A77_KeysWithoutRoomShareOneBucketAndSaySo',
    'idempotency keys, and their answers': 'HostileFlood.ForgetsNoKeyOfACallerWithinItsShare',
    'callers with idempotency keys':
        'OwnerShares.UnknownOutcomesOfManyCallersWithManyScopesLeaveRoom',
    'calls that go on without their callers':
        'LoneCalls.OfACallerHoldAQuarterOfTheSlotsAndOfAllHalf',
    'methods known as streams or not': 'MethodKindsTest.AnUpstreamThatFillsItsListTakesNoPlaceFromOthers',
    'methods of a guard': 'GuardMethods.AMethodWhosePathIsLongHasNoNumberOfItsOwn',
    'methods in metrics': 'MethodLabels.BeyondMethodLabelsEverythingIsOther',
    'calls that failed a moment ago': 'FailedCallsTest.TheOldestMakesRoom',
    '[links](guard.md#links-through-the-application)': 'TieTable.IsThreeQuartersFullBeforeACallFindsNoPlace',
    'calls that the page shows': 'RecentCalls.TheOldestMakesRoom',
    'destinations of TLS in tunnels': 'TlsDestinations.OfMadeUpNamesOnlySomeAreRemembered',
    'header fields that come again': 'HpackEncoder.NoMoreThanTheUsualTableIsUsed',
    'header blocks that have begun': 'UnfinishedBlocks.H6_OfAllConnectionsHaveABoundThatTheOldestMeet',
    'look-ups of names that wait': 'LookupQueueTest.ACallerHasNoMoreThanItsShare',
    'what the admin gRPC port holds':
        'GateTest.CallsThatAreCancelledAtOnceAreFewUntilTheLibraryHasLetGoOfThem',
    'the reply of a store': 'RedisProtocol.AReplyTakesNoMoreMemoryThanItsBound',
    'lines and spans that wait': 'SpanQueue.AFullQueueTakesNoMore',
}


def rows():
    """Returns the first column of the list."""
    text = (ROOT / 'docs/limits.md').read_text(encoding='utf-8')
    table = text.split(HEADING)[1].split('\n## ')[0]
    lines = [line for line in table.splitlines() if line.startswith('|')]
    return [line.split('|')[1].strip() for line in lines[2:]]


def tests():
    """Returns the names of all tests, as their programs have them."""
    found = set()
    for path in (ROOT / 'tests').rglob('*_test.cc'):
        text = path.read_text(encoding='utf-8')
        for suite, name in re.findall(r'^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)', text, re.MULTILINE):
            found.add(f'{suite}.{name}')
    return found


def named_classes(build):
    """Yields (test, file, class) for each test of the build that runs one class of a Python file."""
    shown = subprocess.run(['ctest', '--test-dir', build, '--show-only=json-v1'], stdout=subprocess.PIPE,
                           check=True, text=True)
    for test in json.loads(shown.stdout)['tests']:
        properties = {each['name']: each['value'] for each in test['properties']}
        folder = pathlib.Path(properties['WORKING_DIRECTORY'])
        scripts = [place for place, word in enumerate(test.get('command', []))
                   if word.endswith('_test.py')]
        for place in scripts:
            for word in test['command'][place + 1:]:
                if not word.startswith('-'):
                    yield test['name'], folder / test['command'][place], word


class Tables(unittest.TestCase):

    def test_every_table_that_peers_fill_has_a_test_that_fills_it(self):
        self.assertEqual(rows(), list(FILLED_BY))

    def test_each_of_these_tests_is_there(self):
        self.assertEqual([], sorted(set(FILLED_BY.values()) - tests()))

    def test_each_deliberate_bug_has_one_place(self):
        elsewhere = [each.name for each in mutants.MUTANTS
                     if (ROOT / each.file).read_text(encoding='utf-8').count(each.old) != 1]
        self.assertEqual([], elsewhere)

    @unittest.skipUnless('LEVEE_BUILD' in os.environ, 'LEVEE_BUILD does not say what was built')
    def test_each_class_that_the_build_runs_is_in_its_file(self):
        named = list(named_classes(os.environ['LEVEE_BUILD']))
        self.assertTrue(named)
        missing = [test for test, file, name in named
                   if not re.search(rf'^class {name}\(', file.read_text(encoding='utf-8'), re.MULTILINE)]
        self.assertEqual([], missing)


if __name__ == '__main__':
    unittest.main()
