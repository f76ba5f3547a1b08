# SPDX-License-Identifier: Apache-2.0
"""Configurations of Levee that differ in how many of something they have.

All their endpoints are the one echo service, which listens on all of 127.0.0.0/8.
"""

from typing import NamedTuple

import loads

MANY, MANY_POLICIES = 1000, 100
MANY_AT_A_TIME, SINGLE = (4, 32), (1, 1)


class Variant(NamedTuple):
    count: int
    config: dict
    targets: list  # (authority, path) of the calls, used in turn.
    before: tuple = ()  # Called once each before anything is measured.


class Case(NamedTuple):
    what: str
    load: tuple  # Connections, calls at a time on each; with 1x1 everything is on one CPU.
    calls: int  # At scale 1.
    variants: tuple  # The first is what the others are compared with.
    judged: bool = True


def authority(i):
    return f'service-{i:04}.bench:80'


def path(i):
    return f'/bench.Echo/Method{i:04}'


def address(i):
    return f'127.1.{i // 250}.{i % 250 + 1}:@ECHO@'


def exact_route(i, policy='default'):
    return {'match': {'authority': authority(i), 'method': path(i)}, 'upstream': 'echo',
            'policy': policy}


def config(endpoints=('127.0.0.1:@ECHO@',), routes=({'upstream': 'echo', 'policy': 'default'},),
           policies=()):
    """Returns a configuration. YAML contains JSON, so that is how it is written."""
    made = {'listeners': [{'name': 'bench', 'address': '127.0.0.1:@LISTEN@'}],
            'metrics': {'address': '127.0.0.1:@METRICS@'}, 'admin': {'address': 'none'},
            'upstreams': [{'name': 'echo', 'endpoints': list(endpoints)}], 'routes': list(routes)}
    return {**made, 'policies': list(policies)} if policies else made


def route_cases():
    every = [exact_route(i) for i in range(MANY)]
    targets = [(authority(i), path(i)) for i in range(MANY)]
    return [
        Case('routes, calls to the last', MANY_AT_A_TIME, 60_000, (
            Variant(1, config(routes=every[-1:]), targets[-1:]),
            Variant(MANY, config(routes=every), targets[-1:]))),
        Case('routes, calls to each in turn', MANY_AT_A_TIME, 60_000, (
            Variant(1, config(), targets),
            Variant(MANY, config(routes=every), targets))),
    ]


def policy_case():
    """100 routes in both variants, which have one policy or one each."""
    names = [f'policy-{i}' for i in range(MANY_POLICIES)]
    policies = [{'name': name, 'timeout': f'{i + 10}s', 'retry': {'max_attempts': 2 + i % 4}}
                for i, name in enumerate(names)]
    targets = [(authority(i), path(i)) for i in range(MANY_POLICIES)]
    shared = [exact_route(i, names[0]) for i in range(MANY_POLICIES)]
    own = [exact_route(i, name) for i, name in enumerate(names)]
    return Case('policies', MANY_AT_A_TIME, 60_000, (
        Variant(1, config(routes=shared, policies=policies[:1]), targets),
        Variant(MANY_POLICIES, config(routes=own, policies=policies), targets)))


def connection_cases():
    """Each endpoint and each destination has a connection of its own. Calls made at the same time
    leave in one write where they share a connection, and where they do not, the system's calls
    dominate: so what is judged are single calls, of which each is read and written for itself in
    both variants."""
    endpoints = [address(i) for i in range(MANY)]
    targets = [(endpoint, loads.PATH) for endpoint in endpoints]
    one_endpoint = Variant(1, config(endpoints=endpoints[:1]), [(authority(0), loads.PATH)])
    endpoints = Variant(MANY, config(endpoints=endpoints), [(authority(0), loads.PATH)])
    dialled = config(endpoints=['authority:'])
    one_destination = Variant(1, dialled, targets[-1:])
    last = Variant(MANY, dialled, targets[-1:], tuple(targets))
    each = Variant(MANY, dialled, targets)
    return [
        Case('endpoints', SINGLE, 20_000, (one_endpoint, endpoints)),
        Case('endpoints', MANY_AT_A_TIME, 40_000, (one_endpoint, endpoints), judged=False),
        Case('destinations, calls to the last', MANY_AT_A_TIME, 60_000, (one_destination, last)),
        Case('destinations, calls to each in turn', SINGLE, 20_000, (one_destination, each)),
        Case('destinations, calls to each in turn', MANY_AT_A_TIME, 40_000,
             (one_destination, each), judged=False),
    ]


def cases():
    return [*route_cases(), policy_case(), *connection_cases()]
