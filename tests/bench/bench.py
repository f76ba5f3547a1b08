#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a call through Levee costs, beside other proxies: CPU, latency and memory.

All proxies run at the same time, one worker each, and are measured in turn. The results go to
standard output as Markdown, progress to standard error. tests/bench/run builds the helper programs
and then starts this; everything stays on 127.0.0.1 and is bounded in count and time.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile

import document
import loads
import measure
import proxies
import report
import scaling
from processes import BenchError, find_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = pathlib.Path(__file__).resolve().parent / 'RESULTS.md'
GUARD_CONFIG = pathlib.Path(__file__).resolve().parent / 'configs' / 'guard.yaml.in'
PEERS = ('relay', 'nghttpx', 'haproxy', 'nginx', 'envoy')
ROUNDS = 5
QUICK_ROUNDS, QUICK_SCALE = 2, 0.1
ROUNDS_MAX, SCALE_MAX = 50, 10.0
EXAMPLES = '''examples:
  tests/bench/run --scaling --tls                    everything, about half an hour
  tests/bench/run --quick                            a rough look in less than a minute
  tests/bench/run --loads '' --scaling --memory-calls 10000000
  tests/bench/run --levee old=build-old/levee --levee new=build/levee --loads 4x32
  tests/bench/run --base levee --peers ''             what the guard's hop costs beside the other
  tests/bench/run --loads '' --tls                    only what TLS to the service costs
  tests/bench/run --scaling --tls --write            keep the results in tests/bench/RESULTS.md
'''


def names_among(known):
    def parse(text):
        names = [name for name in text.split(',') if name]
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(
                    f'there is no {name!r}; there are {", ".join(known)}')
        return list(dict.fromkeys(names))
    return parse


def pair(text):
    name, equals, value = text.partition('=')
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=VALUE')
    return name, pathlib.Path(value)


def between(kind, lowest, highest):
    def parse(text):
        value = kind(text)
        if not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(f'must be between {lowest} and {highest}')
        return value
    parse.__name__ = kind.__name__  # argparse names it where `text` is no number.
    return parse


def parse_arguments(words):
    parser = argparse.ArgumentParser(
        prog='tests/bench/run', description=__doc__, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--levee', action='append', type=pair, metavar='NAME=BINARY', default=[],
                        help='a build of Levee; repeatable; default levee=build/shipped/levee, and '
                             'with its guard as guard')
    parser.add_argument('--config', action='append', type=pair, metavar='NAME=TEMPLATE', default=[],
                        help='another configuration template than configs/levee.yaml.in for the '
                             'build NAME; repeatable')
    parser.add_argument('--peers-only', action='store_true', help='measure without Levee')
    parser.add_argument('--peers', type=names_among(PEERS), default=','.join(PEERS),
                        help='which, separated by commas (empty: none); default %(default)s')
    parser.add_argument('--loads', type=names_among(loads.LOADS), default=','.join(loads.LOADS),
                        help='which, separated by commas (empty: none); default %(default)s')
    parser.add_argument('--base', metavar='NAME',
                        help=f'what the tables show ratios to; default {report.BASE}, or the first '
                             'without it')
    parser.add_argument('--rounds', type=between(int, 1, ROUNDS_MAX), help=f'default {ROUNDS}')
    parser.add_argument('--scale', type=between(float, 0.001, SCALE_MAX),
                        help='multiplies the number of calls; default 1')
    parser.add_argument('--quick', action='store_true',
                        help=f'{QUICK_ROUNDS} rounds at scale {QUICK_SCALE}')
    parser.add_argument('--scaling', action='store_true',
                        help='also measure how the first build of Levee grows with its '
                             'configuration, connections and calls')
    parser.add_argument('--tls', action='store_true',
                        help='also measure what TLS to the service costs the first build of Levee '
                             'and the peers')
    parser.add_argument('--memory-calls', type=between(int, 1000, 1_000_000_000),
                        default=scaling.MEMORY_CALLS, metavar='N',
                        help='calls after which --scaling reads the memory; default %(default)s')
    parser.add_argument('--json', type=pathlib.Path, metavar='FILE', help='write every run there')
    parser.add_argument('--write', action='store_true', help='write tests/bench/RESULTS.md')
    parser.add_argument('--check', action='store_true',
                        help='exit with 1 when a bar is missed or not measured')
    parser.add_argument('--helpers', type=pathlib.Path, default=ROOT / 'build' / 'tests',
                        help='where bench_echo and bench_relay are')
    args = parser.parse_args(words)
    args.rounds = args.rounds or (QUICK_ROUNDS if args.quick else ROUNDS)
    args.scale = args.scale or (QUICK_SCALE if args.quick else 1.0)
    if not args.loads and (args.write or not (args.scaling or args.tls)):
        parser.error('--loads names no load, which only --scaling or --tls without --write can do '
                     'without')
    if (args.scaling or args.tls) and args.peers_only:
        parser.error('--peers-only excludes --scaling and --tls')
    if args.peers_only and args.levee:
        parser.error('--levee and --peers-only exclude each other')
    if not args.levee and not args.peers_only:
        binary = ROOT / 'build' / 'shipped' / 'levee'
        args.levee = [(report.GUARDED, binary), (report.GUARD, binary)]
        args.config = [(report.GUARD, GUARD_CONFIG), *args.config]
    check_names(parser, args)
    return args


def check_names(parser, args):
    levees = [name for name, _ in args.levee]
    every = [*levees, *args.peers]
    taken = [*every, report.DIRECT]
    if not every:
        parser.error('nothing to measure')
    for name in every:
        if taken.count(name) > 1 or '/' in name:
            parser.error(f'{name!r} cannot name a build: names are unique and have no slash')
    for name, _ in args.config:
        if name not in levees:
            parser.error(f'--config {name}: there is no --levee {name}')
    args.base = args.base or (report.BASE if report.BASE in every else every[0])
    if args.base not in every:
        parser.error(f'--base {args.base}: it is not measured')


def chosen(args):
    """Returns the proxies to measure, Levee first."""
    templates = dict(args.config)
    if 'envoy' in args.peers and not proxies.find_envoy():
        print(f'bench: {proxies.NO_ENVOY}', file=sys.stderr)
        args.peers.remove('envoy')
    peers = proxies.peers(args.helpers.absolute())
    found = [proxies.levee(name, binary.absolute(), templates.get(name))
             for name, binary in args.levee]
    found += [peers[name] for name in args.peers]
    for proxy in found:  # All that is missing is reported before anything starts.
        proxies.program(proxy)
    for program in ('h2load', 'nghttp'):
        find_program(program)
    return found


def measured(args, found, scratch):
    """Returns two measure.Results, in clear text and with TLS to the service, and the
    scaling.Scaling; what is not asked for is empty."""
    result, with_tls, growth = measure.Result([], {}), measure.Result([], {}), None
    helpers = args.helpers.absolute()
    if args.loads:
        with measure.Bench(found, helpers, scratch) as bench:
            result = bench.measure([loads.LOADS[name] for name in args.loads], args.rounds,
                                   args.scale)
    if args.tls:
        with measure.Bench(tls_set(found), helpers, scratch) as bench:
            with_tls = bench.measure([loads.LOADS[name] for name in report.TLS_LOADS], args.rounds,
                                     args.scale)
    if args.scaling:
        binary = args.levee[0][1].absolute()
        with scaling.Measurement(binary, helpers, scratch, args.rounds, args.scale) as levee:
            growth = levee.all(args.memory_calls)
    return result, with_tls, growth


def tls_set(found):
    """Returns the first build of Levee, in clear text and with TLS, and the peers with TLS."""
    levee, peers = found[0], [proxy for proxy in found if proxy.kind in proxies.TLS]
    return [levee._replace(name=report.CLEAR),
            *(proxy._replace(tls=True) for proxy in peers
              if proxy is levee or proxy.kind != levee.kind)]


def as_json(result, with_tls, growth, about):
    runs = [run._asdict() for run in result.runs]
    tls_runs = [run._asdict() for run in with_tls.runs]
    return json.dumps({'about': about, 'idle_mib': result.idle_mib, 'runs': runs, 'tls': tls_runs,
                       'scaling': growth and growth._asdict()}, indent=1)


def main(words):
    args = parse_arguments(words)
    found = chosen(args)
    versions = {proxy.name: proxies.version(proxy) for proxy in found}
    with tempfile.TemporaryDirectory(prefix='levee-bench-') as scratch:
        os.chmod(scratch, 0o755)  # Started as root, nginx works as somebody else.
        result, with_tls, growth = measured(args, found, scratch)
    levees = [name for name, _ in args.levee]
    bars = report.bars(result, levees, args.loads) if args.loads else []
    if args.tls:
        bars += report.tls_bars(with_tls, levees[0])
    if growth:
        bars += scaling.bars(growth, levees[0])
    runs = result.runs + with_tls.runs
    about = document.facts(versions, args.rounds, args.scale, runs)
    text = document.render(result, about, args.loads, args.base, bars, growth, with_tls)
    print(text, end='')
    if args.write:
        RESULTS.write_text(text, encoding='utf-8')
    if args.json:
        args.json.write_text(as_json(result, with_tls, growth, about) + '\n', encoding='utf-8')
    missed = [bar for bar in bars if bar.verdict() != 'met']
    failed = any(run.error for run in runs)
    return 1 if failed or (args.check and missed) else 0


def interrupted(*_):
    """Ends through the `finally` paths, so that nothing started here stays behind."""
    sys.exit(130)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, interrupted)
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as reason:
        sys.exit(f'bench: {reason}')
