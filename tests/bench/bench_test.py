#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark's reading, computing and writing; no proxy is needed."""

import contextlib
import io
import os
import pathlib
import tempfile
import time
import unittest
from unittest import mock

import bench
import caller
import document
import loads
import measure
import processes
import proxies
import report
import waiting
from measure import Result, Run
from waiting import until

H2LOAD = '''
finished in 13.10ms, 76330.05 req/s, 9.91MB/s
requests: 1000 total, 1000 started, 1000 done, {ok} succeeded, 0 failed, 0 errored, 0 timeout
status codes: {ok} 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 133.00KB (136196) total, 3.02KB (3088) headers (space savings 96.09%), 1KB ({data}) data
                     min         max         mean         sd        +/- sd
req/s           :   41682.77    43868.83    42775.80     1545.77   100.00%
'''


def run(proxy, load, number, cpu_us, **more):
    return Run(proxy, load, number, 100, '', cpu_us, **more)


class H2load(unittest.TestCase):
    def parse(self, ok, data):
        return loads.parse(H2LOAD.format(ok=ok, data=data), 1000, 105)

    def test_all_calls_succeeded(self):
        self.assertEqual(loads.Answer('', 76330.05), self.parse(1000, 105_000))

    def test_a_call_that_failed_spoils_the_run(self):
        self.assertEqual('only 999 of 1000 calls succeeded', self.parse(999, 105_000).error)

    def test_a_status_200_without_the_message_spoils_the_run(self):
        self.assertEqual('104895 bytes of messages came back instead of 105000',
                         self.parse(1000, 104_895).error)

    def test_no_summary_spoils_the_run(self):
        self.assertEqual('h2load said: Could not connect',
                         loads.parse('Could not connect\n', 1000, 105).error)
        self.assertEqual('h2load said: nothing', loads.parse('', 1000, 105).error)

    def test_reads_the_time_of_each_call(self):
        log = '1795170984034400\t200\t92\n1795170984034401\t200\t111\n'
        self.assertEqual((92, 111), loads.parse_times(log))


class Loads(unittest.TestCase):
    def test_the_caller_of_an_open_loop_is_told_its_rate(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / loads.OPEN_LOOP
            program.write_text('#!/bin/sh\nshift; printf "%s\\n" $1 $2 $3\n', encoding='utf-8')
            program.chmod(0o755)
            answer = loads.run(loads.LOADS['20k-4'], 1, 300, 0, folder, folder)
            self.assertEqual(loads.Answer('', 20_000.0, (4, 300, 20_000)), answer)
            program.write_text('#!/bin/sh\nprintf "1\\t2\\n3\\t4\\n"\n', encoding='utf-8')
            times = loads.times_by_port(loads.LOADS['20k-4'], [1, 2], 2, 0, folder, folder)
            self.assertEqual(('', [(1, 3), (2, 4)]), times)
            program.write_text('#!/bin/sh\necho the peer left >&2; exit 1\n', encoding='utf-8')
            answer = loads.run(loads.LOADS['20k-4'], 1, 300, 0, folder, folder)
            self.assertEqual('the peer left', answer.error)

    def test_the_percentile_is_one_of_the_values(self):
        self.assertEqual(99, loads.percentile(range(1, 101), 0.99))
        self.assertEqual(50, loads.percentile(range(1, 101), 0.5))
        self.assertEqual(7, loads.percentile([7], 0.99))
        self.assertEqual(3, loads.percentile([3, 1, 2], 0.99))

    def test_each_call_of_a_keyed_load_has_a_key_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / 'caller.py'
            program.write_text('import sys\nprint(*sys.argv[1:5])\n'
                               'sys.exit(open(sys.argv[5]).read() + sys.argv[6])\n',
                               encoding='utf-8')
            with mock.patch.object(loads, 'CALLER', program), \
                 mock.patch('uuid.uuid4', return_value='prefix'):
                answer = loads.run(loads.KEYED['64x1'], 1, 300, 0, folder)
            self.assertEqual('127.0.0.1 /bench.Echo/Unary\nprefix', answer.error)
        blocks = [caller.head('a', '/b', f'k-{i}') for i in range(2)]
        self.assertTrue(all(block.endswith(b'\x0fidempotency-key\x03k-%d' % i)
                            for i, block in enumerate(blocks)))

    def test_slow_proxies_get_fewer_calls_but_never_none(self):
        load = loads.LOADS['4x32']
        self.assertEqual(300_000, loads.call_count(load, 1, 1))
        self.assertEqual(45_000, loads.call_count(load, 0.5, 0.3))
        self.assertEqual(loads.MIN_CALLS, loads.call_count(loads.LOADS['1MiB'], 0.001, 1))

    def test_eight_headers_of_metadata_are_added_to_two(self):
        self.assertEqual(2 * 2, len(loads.headers(loads.LOADS['4x32'])))
        self.assertEqual(2 * 10, len(loads.headers(loads.LOADS['headers'])))


class Measuring(unittest.TestCase):
    def test_everybody_comes_first_once(self):
        self.assertEqual([['a', 'b', 'c'], ['b', 'c', 'a'], ['c', 'a', 'b'], ['a', 'b', 'c']],
                         [measure.rotated(['a', 'b', 'c'], number) for number in range(4)])

    def test_cpu_time_of_a_process_is_that_of_its_own_clock(self):
        before = time.process_time_ns()
        read = processes.cpu_nanoseconds([os.getpid()])
        self.assertLessEqual(before, read)
        self.assertLessEqual(read, time.process_time_ns())

    def test_memory_is_read_in_mib(self):
        now = processes.memory_mib([os.getpid()], 'VmRSS')
        self.assertGreater(now, 1)
        self.assertLess(now, 1000)
        self.assertGreaterEqual(processes.memory_mib([os.getpid()], 'VmHWM'), now)


class Processes(unittest.TestCase):
    def setUp(self):
        self.scratch = self.enterContext(tempfile.TemporaryDirectory())

    def start(self, *command):
        process = processes.Process('program', command, processes.cpus()[0], self.scratch)
        self.addCleanup(process.stop)
        return process

    @staticmethod
    def is_alive(pid):
        stat = pathlib.Path(f'/proc/{pid}/stat')
        try:
            return stat.read_text(encoding='utf-8').rsplit(')', 1)[1].split()[0] != 'Z'
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_the_tree_has_children_and_all_of_it_ends(self):
        # The shell's own end would leave its child behind.
        process = self.start('sh', '-c', 'trap "" TERM; cat /dev/zero >/dev/null & wait; wait')
        until(lambda: len(process.tree()) == 2)
        pids = process.tree()
        self.assertEqual(2, len(pids))
        self.assertEqual('', process.end())
        with mock.patch.object(processes, 'STOP_SECONDS', 0.5):
            process.stop()
        until(lambda: not any(self.is_alive(pid) for pid in pids))
        self.assertEqual([], [pid for pid in pids if self.is_alive(pid)])

    def test_a_program_that_ends_is_reported_with_what_it_said(self):
        process = self.start('sh', '-c', 'echo no such option; exit 3')
        with self.assertRaisesRegex(processes.BenchError, 'program ended with 3:\nno such option'):
            process.wait_until_ready(processes.free_port())
        self.assertEqual('the program ended with 3, and said last: no such option', process.end())

    def test_a_program_that_is_not_ready_in_time_is_reported(self):
        process = self.start('sh', '-c', 'echo listening a; exec cat /dev/zero >/dev/null')
        until(lambda: 'listening a' in process.output())
        with mock.patch.object(waiting, 'WATCHDOG_SECONDS', 0.2):
            with self.assertRaisesRegex(processes.BenchError, 'did not print "listening b" in'):
                process.wait_until_ready(processes.free_port(), ['listening a', 'listening b'])

    def test_a_missing_program_names_its_package(self):
        with mock.patch('shutil.which', return_value=None):
            with self.assertRaisesRegex(processes.BenchError, 'Debian package nginx-light'):
                processes.find_program('nginx')

    def test_every_package_is_in_the_list_that_is_installed(self):
        text = (bench.ROOT / 'deploy/debian-packages.txt').read_text(encoding='utf-8')
        listed = {line.split()[1] for line in text.splitlines() if line.startswith('bench ')}
        self.assertLessEqual(set(processes.PACKAGES.values()), listed)


class Proxies(unittest.TestCase):
    def test_templates_leave_nothing_open(self):
        values = {**proxies.envoy('envoy').values, 'LISTEN': 1, 'ECHO': 2, 'METRICS': 3,
                  'SCRATCH': '/s'}
        for template in sorted(proxies.CONFIGS.iterdir()):
            text = proxies.fill(template.read_text(encoding='utf-8'), values)
            self.assertNotRegex(text, '@[A-Z]+@', template)
            self.assertRegex(text, r'127\.0\.0\.1([:,]|, port_value: )1\b', template)

    def test_tls_to_the_service_is_added_to_each_template(self):
        values = {**proxies.envoy('envoy').values, 'SCRATCH': '/s'}
        every = {**proxies.peers('/helpers'), 'levee': proxies.levee('levee', '/b/levee')}
        for name in proxies.TLS:
            text = proxies.configuration(every[name]._replace(tls=True), values)
            self.assertIn('/s/service.crt', text, name)
            self.assertIn('localhost', text, name)
            self.assertNotIn('service.crt', proxies.configuration(every[name], values), name)

    def test_with_tls_levee_is_beside_itself_in_clear_text_and_the_relay_is_left_out(self):
        peers = proxies.peers('/helpers')
        found = [proxies.levee('levee', '/b/levee'), proxies.levee('guard', '/b/levee'),
                 peers['relay'], peers['nginx']]
        self.assertEqual([('clear', False), ('levee', True), ('nginx', True)],
                         [(proxy.name, proxy.tls) for proxy in bench.tls_set(found)])

    def test_envoy_is_left_out_with_a_word_where_it_is_not(self):
        args = bench.parse_arguments(['--peers-only', '--peers', 'envoy,relay'])
        told = io.StringIO()
        with (mock.patch('proxies.find_envoy', return_value=None), mock.patch('proxies.program'),
              mock.patch('bench.find_program'), contextlib.redirect_stderr(told)):
            self.assertEqual(['relay'], [proxy.name for proxy in bench.chosen(args)])
        self.assertIn('Envoy is left out', told.getvalue())

    def test_levee_runs_one_worker_and_says_when_it_listens(self):
        proxy = proxies.levee('new', '/b/levee')
        self.assertEqual(('/b/levee', 'run', '--workers', '1', '--config', '@CONFIG@'),
                         proxy.command)
        self.assertEqual('listening bench 127.0.0.1:@LISTEN@', proxy.ready_lines[0])

    def test_versions_are_one_line(self):
        self.assertEqual('HAProxy version 2.6.12 2026/10/17',
                         proxies.short_version('HAProxy version 2.6.12 2026/10/17 - https://x/\n'
                                               'Status: long-term\n'))
        self.assertEqual('nginx/1.22.1', proxies.short_version('nginx version: nginx/1.22.1\n'))
        self.assertEqual('Envoy 1.40.0', proxies.short_version(
            '\n/b/envoy  version: 9e55809337/1.40.0/Clean/RELEASE/BoringSSL\n'))
        self.assertEqual('unknown', proxies.short_version('\n'))


class Report(unittest.TestCase):
    def test_figures_take_about_three_digits(self):
        self.assertEqual(['0.93', '2.77', '15.6', '750', '1376'],
                         [report.number(x) for x in (0.93, 2.77, 15.6, 750.3, 1375.6)])

    def test_a_cell_has_median_range_and_ratio(self):
        self.assertEqual('2.00 (1.00-4.00) [0.50]',
                         report.cell({0: 1.0, 1: 2.0, 2: 4.0}, {0: 2.0, 1: 4.0, 2: 8.0}))
        self.assertEqual('2.00 (2.00-2.00)', report.cell({0: 2.0}, {}))
        self.assertEqual('failed', report.cell({}, {0: 1.0}))

    def test_the_ratio_is_that_of_the_medians(self):
        # The median of the rounds' ratios would be 0.5.
        self.assertEqual(0.7, report.ratio({0: 1.0, 1: 2.0, 2: 1.4}, {0: 2.0, 1: 4.0, 2: 2.0}))
        self.assertIsNone(report.ratio({}, {1: 1.0}))
        self.assertIsNone(report.ratio({1: 1.0}, {}))

    def test_failed_runs_do_not_count(self):
        runs = [run('levee', '4x32', 0, 2.0), run('levee', '4x32', 1, 9.0)._replace(error='x'),
                run('levee', '1x100', 2, 9.0), run('nginx', '4x32', 3, 9.0)]
        self.assertEqual({0: 2.0}, report.figures(runs, 'levee', '4x32', 'cpu_us'))

    def test_the_spread_is_that_of_the_median_cell(self):
        runs = [run('levee', load, number, value) for load, values in
                {'4x32': (10, 10, 11), '1x100': (10, 10, 12), '1x1': (10, 10, 20)}.items()
                for number, value in enumerate(values)]
        self.assertAlmostEqual(0.2, report.spread(runs))
        self.assertIsNone(report.spread(runs[:1]))


class Bars(unittest.TestCase):
    LOADS = ['4x32', '1x100', '50x10', '64x1', 'headers', '1MiB', '1x1']

    def bars(self, levee_us, idle=3.0, names=('levee',), **others):
        us = {'levee': levee_us, 'nghttpx': 10.0, 'relay': 9.0, **others}
        runs = [run(name, load, 0, cpu) for load in self.LOADS for name, cpu in us.items()]
        return report.bars(Result(runs, {**dict.fromkeys(us, 18.0), 'levee': idle}), names,
                           self.LOADS)

    def verdicts(self, *args, **others):
        return {bar.what: bar.verdict() for bar in self.bars(*args, **others)}

    def test_the_limits_are_those_that_were_promised(self):
        self.assertEqual([('CPU at 4x32, ratio to nghttpx', 0.38),
                          ('CPU at 1x100, ratio to nghttpx', 0.60),
                          ('CPU at 50x10, ratio to nghttpx', 0.60),
                          ('CPU at 64x1, ratio to nghttpx', 0.80),
                          ('CPU at headers, ratio to nghttpx', 0.40),
                          ('CPU at 1MiB, ratio to nghttpx', 0.75),
                          ('CPU at 1x1, ratio to nghttpx', 0.80),
                          ('CPU at 4x32, ratio to relay', 2.0),
                          ('CPU at 1x100, ratio to relay', 3.0),
                          ('CPU at 64x1, ratio to relay', 1.0),
                          ('CPU at 1x1, ratio to relay', 1.3),
                          ('CPU, highest ratio to any peer at any load: nghttpx at headers', 1.0),
                          ('p50 added to single calls, ratio to relay', 1.3),
                          ('p99 added to single calls, ratio to relay', 1.3),
                          ('RSS idle, MiB', 6.0)],
                         [(bar.what, bar.limit) for bar in self.bars(6.0)])

    def test_a_bar_is_met_at_its_limit_and_missed_above(self):
        self.assertEqual('met', self.verdicts(3.8)['CPU at 4x32, ratio to nghttpx'])
        self.assertEqual('missed', self.verdicts(3.9)['CPU at 4x32, ratio to nghttpx'])
        self.assertEqual('met', self.verdicts(7.5)['CPU at 1MiB, ratio to nghttpx'])
        self.assertEqual('missed', self.verdicts(7.6)['CPU at 1MiB, ratio to nghttpx'])
        self.assertEqual('met', self.verdicts(6.0, relay=6.0)['CPU at 64x1, ratio to relay'])
        self.assertEqual('missed', self.verdicts(6.0, relay=5.9)['CPU at 64x1, ratio to relay'])
        self.assertEqual('met', self.verdicts(6.0, idle=6.0)['RSS idle, MiB'])
        self.assertEqual('missed', self.verdicts(6.0, idle=6.1)['RSS idle, MiB'])

    def test_no_peer_at_any_load_may_cost_less(self):
        what = 'CPU, highest ratio to any peer at any load'
        self.assertEqual('missed', self.verdicts(6.0, nginx=5.9)[f'{what}: nginx at headers'])
        runs = [run('levee', '4x32', 0, 5.0), run('nginx', '4x32', 0, 20.0),
                run('levee', '1MiB', 0, 900.0), run('nginx', '1MiB', 0, 800.0)]
        bar = report.highest_ratio(Result(runs, {'levee': 3.0, 'nginx': 9.0}), 'levee', ['nginx'],
                                   ['4x32', '1MiB'])
        self.assertEqual((f'{what}: nginx at 1MiB', 1.125), (bar.what, bar.value))

    def test_the_relay_and_other_builds_are_no_peers(self):
        found = self.verdicts(6.0, names=('levee', 'new'), relay=1.0, new=1.0)
        self.assertEqual('met', found['CPU, highest ratio to any peer at any load: '
                                      'nghttpx at headers'])

    def test_the_time_without_a_proxy_does_not_count(self):
        runs = [run(name, '1x1', 0, 5.0, p50_us=p50, p99_us=p50 + 10) for name, p50 in
                (('levee', 26.0), ('relay', 20.0), ('direct', 10.0))]
        result = Result(runs, {'levee': 3.0, 'relay': 2.0})
        self.assertEqual(1.6, report.added_ratio(result, 'levee', 'p50_us'))
        self.assertEqual(1.6, report.added_ratio(result, 'levee', 'p99_us'))
        self.assertIsNone(report.added_ratio(Result(runs[:2], {}), 'levee', 'p50_us'))

    def test_at_20000_calls_a_second_no_peer_may_add_less_to_p99(self):
        runs = [run(name, load, 0, 5.0, p99_us=p99) for load, times in
                (('5k-1', {'levee': 900.0, 'nginx': 60.0, 'direct': 50.0}),
                 ('20k-1', {'levee': 110.0, 'nginx': 130.0, 'relay': 60.0, 'direct': 50.0}),
                 ('20k-4', {'levee': 80.0, 'nginx': 100.0, 'relay': 60.0, 'direct': 60.0}))
                for name, p99 in times.items()]
        result = Result(runs, {'levee': 3.0, 'nginx': 9.0, 'relay': 1.0})
        bars = {bar.what: bar.value for bar in
                report.bars(result, ['levee'], ['5k-1', '20k-1', '20k-4'])}
        what = 'p99 added at 20,000 calls/s, highest ratio to any peer'
        self.assertEqual(0.75, bars[f'{what}: nginx at 20k-1'])
        self.assertNotIn(what, ''.join(bar.what for bar in report.bars(result, ['levee'], ['5k-1'])))

    def test_each_build_has_its_bars(self):
        found = self.bars(6.0, names=('levee', 'new'))
        self.assertEqual(['levee'] * 15 + ['new'] * 15, [bar.proxy for bar in found])
        self.assertEqual({'not measured'}, {bar.verdict() for bar in found[15:]})

    def test_the_guard_is_judged_beside_the_other_side(self):
        runs = [run('levee', '4x32', 0, 3.0), run('guard', '4x32', 0, 3.3),
                run('levee', '64x1', 0, 3.0), run('guard', '64x1', 0, 3.4)]
        found = report.bars(Result(runs, {'levee': 3.0, 'guard': 3.0}), ['guard'],
                            ['4x32', '64x1', 'headers'])
        self.assertEqual({'CPU at 4x32, ratio to levee': 'met',
                          'CPU at 64x1, ratio to levee': 'missed'},
                         {bar.what: bar.verdict() for bar in found})

    def test_tls_is_judged_by_what_it_adds_and_beside_the_peers(self):
        us = {'clear': (2.0, 10.0, 800.0), 'levee': (3.5, 14.1, 2000.0), 'nginx': (30.0, 40.0, 1900.0)}
        runs = [run(name, load, 0, cpu) for name, times in us.items()
                for load, cpu in zip(report.TLS_LOADS, times)]
        found = report.tls_bars(Result(runs, dict.fromkeys(us, 5.0)), 'levee')
        self.assertEqual({'CPU that TLS adds at 4x32, us': 'met',
                          'CPU that TLS adds at 64x1, us': 'missed',
                          'CPU at 1MiB with TLS, us (1 GB/s of records)': 'met',
                          'CPU with TLS, highest ratio to any peer: nginx at 1MiB': 'missed'},
                         {bar.what: bar.verdict() for bar in found})
        self.assertEqual({'not measured'}, {bar.verdict() for bar in
                                            report.tls_bars(Result(runs[:3], {'clear': 5.0}), 'levee')})

    def test_only_the_loads_of_the_run_are_judged(self):
        result = Result([run('levee', '4x32', 0, 5.0)], {'levee': 3.0})
        found = report.bars(result, ['levee'], ['4x32'])
        self.assertEqual(['CPU at 4x32, ratio to nghttpx',
                          'CPU at 4x32, ratio to relay',
                          'CPU, highest ratio to any peer at any load', 'RSS idle, MiB'],
                         [bar.what for bar in found])
        self.assertEqual(['not measured', 'not measured', 'not measured', 'met'], [bar.verdict() for bar in found])


class Document(unittest.TestCase):
    RESULT = Result([run('levee', '4x32', 0, 3.0, memory_mib=9.0),
                     run('nghttpx', '4x32', 0, 5.0, memory_mib=30.0),
                     run('levee', '1x1', 0, 8.0, memory_mib=8.0, p50_us=20.0, p99_us=30.0),
                     Run('nghttpx', '1x1', 0, 100, 'the caller failed'),
                     run('direct', '1x1', 0, 6.0, p50_us=11.0, p99_us=12.0),
                     run('levee', '5k-4', 0, 9.0, p50_us=70.0, p99_us=90.0, p999_us=230.0),
                     run('nghttpx', '5k-4', 0, 9.0, p50_us=90.0, p99_us=90.0, p999_us=330.0),
                     run('direct', '5k-4', 0, 9.0, p50_us=50.0, p99_us=60.0, p999_us=130.0)],
                    {'levee': 4.0, 'nghttpx': 18.0})

    def test_says_everything_once(self):
        about = document.facts({'levee': 'levee 0.1.0'}, 5, 1.0, self.RESULT.runs)
        bars = report.bars(self.RESULT, ['levee'], ['4x32', '1x1'])
        text = document.render(self.RESULT, about, ['4x32', '1x1', '5k-4'], 'nghttpx', bars, None)
        for line in ('- Rounds: 5, calls per run x 1', '- Versions: levee: levee 0.1.0',
                     '- Failed: 1 of 8 runs, left out', '| proxy | 4x32 | 1x1 |',
                     '| levee | 3.00 (3.00-3.00) [0.60] | 8.00 (8.00-8.00) |',
                     '| nghttpx | 5.00 (5.00-5.00) [1.00] | failed |',
                     '| levee | 20.0 (20.0-20.0) | 30.0 (30.0-30.0) | 4.0 | 9.0 |',
                     '| direct | 11.0 (11.0-11.0) | 12.0 (12.0-12.0) | - | - |',
                     '| p50 added | 5k-4 |', '| levee | 20.0 (20.0-20.0) [0.50] |',
                     '| levee | 30.0 (30.0-30.0) [1.00] |', '| levee | 100 (100-100) [0.50] |',
                     '| levee | CPU at 4x32, ratio to nghttpx | 0.38 | 0.60 | missed |',
                     '| levee | RSS idle, MiB | 6.00 | 4.00 | met |'):
            self.assertEqual(1, text.splitlines().count(line), f'{line}\n\n{text}')

    def test_tls_has_a_table_of_its_own(self):
        with_tls = Result([run('clear', '4x32', 0, 2.0), run('levee', '4x32', 0, 3.0)],
                          {'clear': 4.0, 'levee': 5.0})
        text = document.render(self.RESULT, {}, ['4x32'], 'nghttpx', [], None, with_tls)
        self.assertIn('| levee | 3.00 (3.00-3.00) [1.50] | failed | failed |', text)

    def test_the_kernel_is_named_by_its_version_alone(self):
        self.assertEqual('6.1.0', document.short('6.1.0-13-amd64'))
        self.assertEqual('5.10', document.short('5.10'))
        self.assertEqual('unknown', document.short('unknown'))


class Options(unittest.TestCase):
    def refused(self, *words):
        error = io.StringIO()
        with contextlib.redirect_stderr(error), self.assertRaises(SystemExit):
            bench.parse_arguments(words)
        return error.getvalue()

    def test_the_defaults_measure_everything(self):
        args = bench.parse_arguments([])
        binary = bench.ROOT / 'build' / 'shipped' / 'levee'
        self.assertEqual([('levee', binary), ('guard', binary)], args.levee)
        self.assertEqual([('guard', bench.GUARD_CONFIG)], args.config)
        self.assertEqual(['relay', 'nghttpx', 'haproxy', 'nginx', 'envoy'], args.peers)
        self.assertEqual((5, 1.0, 1_000_000), (args.rounds, args.scale, args.memory_calls))
        self.assertEqual('nghttpx', args.base)

    def test_quick_yields_to_explicit_numbers(self):
        args = bench.parse_arguments(['--quick'])
        self.assertEqual((2, 0.1), (args.rounds, args.scale))
        args = bench.parse_arguments(['--quick', '--rounds', '7'])
        self.assertEqual((7, 0.1), (args.rounds, args.scale))

    def test_builds_are_compared_with_the_first_where_there_is_no_nghttpx(self):
        args = bench.parse_arguments(['--levee', 'old=a', '--levee', 'new=b', '--peers', ''])
        self.assertEqual([('old', pathlib.Path('a')), ('new', pathlib.Path('b'))], args.levee)
        self.assertEqual('old', args.base)

    def test_nonsense_is_refused(self):
        self.assertIn("there is no 'squid'; there are relay", self.refused('--peers', 'squid'))
        self.assertIn('must be between 1 and 50', self.refused('--rounds', '51'))
        self.assertIn('must be between 0.001 and 10', self.refused('--scale', '0'))
        self.assertIn("'direct' cannot name a build", self.refused('--levee', 'direct=build/levee'))
        self.assertIn('--loads names no load', self.refused('--loads', ''))
        self.assertIn('without --write', self.refused('--loads', '', '--scaling', '--write'))
        self.assertIn('excludes', self.refused('--scaling', '--peers-only'))
        self.assertIn("'levee' is not NAME=VALUE", self.refused('--levee', 'levee'))
        self.assertIn("'nginx' cannot name a build", self.refused('--levee', 'nginx=build/levee'))
        self.assertIn('there is no --levee old', self.refused('--config', 'old=x'))
        self.assertIn('exclude each other', self.refused('--peers-only', '--levee', 'a=b'))
        self.assertIn('it is not measured', self.refused('--base', 'x'))

    def test_a_missing_build_is_reported(self):
        proxy = proxies.levee('levee', '/nowhere/levee')
        with self.assertRaisesRegex(processes.BenchError, 'there is no /nowhere/levee'):
            proxies.program(proxy)


if __name__ == '__main__':
    unittest.main()
