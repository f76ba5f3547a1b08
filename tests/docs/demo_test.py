# SPDX-License-Identifier: Apache-2.0
"""The first command of the README, and what the demo then says to type in a second shell."""

import os
import pty
import re
import select
import shutil
import subprocess
import unittest

import documents
import own_network

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

from running import Clone, until


def setUpModule():
    own_network.enter()


def started_by(target):
    """The program that a target of the Makefile starts at its end."""
    makefile = (documents.ROOT / 'Makefile').read_text()
    return re.search(rf'^{target}: .*\n(?:\t.*\n)*?\t@(build/levee .*)\n', makefile,
                     re.MULTILINE)[1]


class Terminal:
    """A program in a terminal of its own. Ended as by Ctrl-C when the `with` block ends."""

    def __init__(self, words, folder):
        self._screen, end = pty.openpty()
        self._child = subprocess.Popen(words, cwd=folder, stdin=end, stdout=end, stderr=end,
                                       start_new_session=True)
        os.close(end)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._child.terminate()
        self._child.wait()
        os.close(self._screen)

    def read_until(self, last):
        """Returns everything that it has written, once that has `last`."""
        text = ''
        while last not in text and select.select([self._screen], [], [],
                                                 documents.WATCHDOG_SECONDS)[0]:
            text += os.read(self._screen, 1 << 16).decode()
        return text.replace('\r\n', '\n')


@unittest.skipUnless(shutil.which('curl'), 'curl is not installed')
class Demo(unittest.TestCase):

    def test_it_leaves_a_service_that_its_lines_call_and_break(self):
        self.assertIn('$ make run\n', documents.block('README.md', 'console', 'make run'))
        with (Clone() as clone,
              Terminal(started_by('run').split(), clone.path) as demo):
            text = demo.read_until('To protect a service of your own')
            for row in ('goodput after the fault', 'amplification', 'recovery time'):
                self.assertIn(row, text)
            _, lines = text.split('Service and sidecar stay up')
            # A line that ends so goes on in the next.
            call, fault, metrics = re.findall(
                r'^ {4}((?:printf|curl) (?:.*[\\|]\n)*.*)$', lines, re.MULTILINE)
            self.assertIn('grpc-status: 0', clone.run(call).stderr)
            before = self.retries(clone, metrics)  # Those of the storm.
            self.assertEqual(clone.run(fault).returncode, 0)

            def retried():
                clone.run(call)
                return self.retries(clone, metrics) > before
            self.assertTrue(until(retried))

    def retries(self, clone, metrics):
        found = re.findall(r'^levee_retries_total\{.*\} (\d+)', clone.run(metrics).stdout,
                           re.MULTILINE)
        self.assertTrue(found)
        return sum(map(int, found))


if __name__ == '__main__':
    unittest.main(verbosity=2)
