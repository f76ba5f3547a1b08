// SPDX-License-Identifier: Apache-2.0
// Answers of a sidecar, as the tests of the page script them.

export const STARTED = 1_700_000_000;  // 2023-11-14T22:13:20Z
export const HASH = '3fa9c1d2e0ab4455667788990011223344556677889900aabbccddeeff001122';

// One second of an upstream that is well.
export function calmSample(number) {
  const calls = 400 + Math.round(20 * Math.sin(number / 7));
  return {
    number, calls, calls_ok: calls, attempts: calls, attempts_ok: calls, retries: 0,
    app_retries: 0, budget_available: 400, budget_at_once: 400, p99_seconds: 0.024, refused: {},
    marks_received: 0, marks_sent: 0, amplification: 1, budget_ratio: 0.1, retries_waiting: 0,
    waits_released: 0, waits_expired: 0, throttle_rejected: 0, throttle_observed: 0,
  };
}

// One that fails more than two thirds of its attempts since second `begin`.
export function stormSample(number, begin) {
  const calm = calmSample(number);
  if (number < begin) return calm;
  const retries = Math.round(38 + 4 * Math.sin(number));
  const refused = Math.round(calm.calls * 0.58 + 12 * Math.cos(number * 2));
  const early = number - begin < 5;
  return {
    ...calm, attempts: calm.calls + retries, attempts_ok: Math.round((calm.calls + retries) * 0.31),
    calls_ok: Math.round(calm.calls * (early ? 0.98 : 0.923)), retries, app_retries: 24,
    budget_available: early ? 400 - 80 * (number - begin) : 0, p99_seconds: 0.21,
    refused: {budget: refused, app_retry: 17, max_attempts: 6, overload_mark: 21, deadline: 3},
    marks_sent: refused, marks_received: 21, amplification: (calm.calls + retries) / calm.calls,
    retries_waiting: 12, waits_released: 3, waits_expired: 9, throttle_observed: 7,
  };
}

const endpoint = (address, state = 'ready', more = {}) => (
    {address, state, active: 3, latency_seconds: 0.0183, failure: '', authority: '', ...more});

export function calmUpstream(name, second, more = {}) {
  return {
    name, verdict: 'calm; upstream 100% OK, callers 100%', severity: 'SEVERITY_CALM',
    budget: {available: 400, at_once: 400, ratio: 0.1, floor_withheld: false, empty_seconds: 0},
    rates: {calls_per_second: 401.2, attempts_per_second: 401.2, retries_per_second: 0,
            callers_ok: 1, attempts_ok: 1, amplification: 1, p99_seconds: 0.024,
            app_retries_per_second: 0},
    last_called: second, endpoint_counts: {ready: 2, connecting: 0, ejected: 0, failing: 0, idle: 0},
    samples: range(Math.max(1, second - 299), second).map(calmSample),
    endpoints: [endpoint('10.0.0.7:50051'), endpoint('10.0.0.8:50051')],
    ...more,
  };
}

// One behind a guard that has refused more than half of its calls since second `begin`.
export function guardedUpstream(name, second, {begin = second - 90, guard, ...more} = {}) {
  return {
    ...calmUpstream(name, second),
    verdict: 'guard refuses 60% of calls: queue too long for 8 slots; upstream 100% OK, callers 40%',
    severity: 'SEVERITY_ALARM',
    guard: {
      limit: 8, limit_min: 1, in_flight: 8, queue_length: 12, queue_stands: true, observing: false,
      scope: 'service', arrived_retry_share: 0.34, reported_retry_share: 0.5,
      admitted_per_second: 20, queued_per_second: 140, refused_per_second: {queue: 240}, ...guard,
    },
    samples: range(Math.max(1, second - 299), second).map((n) => guardedSample(n, begin)),
    ...more,
  };
}

function guardedSample(number, begin) {
  const calm = calmSample(number);
  const full = number >= begin;
  return {
    ...calm, calls_ok: full ? 160 : calm.calls, refused: full ? {guard_queue: calm.calls - 160} : {},
    guard: {
      limit: full ? 8 : 20, in_flight: full ? 8 : 4, queue_length: full ? 12 : 0, observing: false,
      scope: full ? 'service' : 'endpoint', arrived_retry_share: full ? 0.34 : 0,
      reported_retry_share: full ? 0.5 : 0.02,
      admitted: full ? 20 : calm.calls, queued: full ? 140 : 0,
      refused: full ? {queue: calm.calls - 160} : {},
      arrivals: full ? {'0': calm.calls - 136, '1': 100, '2': 36} : {'0': calm.calls},
    },
  };
}

export function stormyUpstream(name, second, {begin = second - 90, ...more} = {}) {
  return {
    ...calmUpstream(name, second),
    verdict: 'storm contained; upstream 31% OK, callers 92%, amplification 1.09 of at most ' +
             '1.10, budget empty for 40 s',
    severity: 'SEVERITY_CONTAINED',
    budget: {available: 0.4, at_once: 400, ratio: 0.1, floor_withheld: true, empty_seconds: 40},
    rates: {calls_per_second: 401.2, attempts_per_second: 438.9, retries_per_second: 37.7,
            callers_ok: 0.923, attempts_ok: 0.31, amplification: 1.094, p99_seconds: 0.21,
            app_retries_per_second: 24},
    throttle_probability: 0.25, retries_waiting: 12,
    endpoint_counts: {ready: 1, connecting: 0, ejected: 1, failing: 1, idle: 0},
    samples: range(Math.max(1, second - 299), second).map((n) => stormSample(n, begin)),
    endpoints: [
      endpoint('10.0.0.7:50051', 'failing', {active: 0, failure: 'connection refused'}),
      endpoint('10.0.0.8:50051', 'ejected', {active: 0}),
      endpoint('10.0.0.9:50051'),
    ],
    ...more,
  };
}

// A call that Levee retried once and then refused to retry.
export function refusedCall(second, more = {}) {
  return {
    number: second, start: STARTED + second - 0.3, duration_seconds: 0.0464, listener: 'egress',
    upstream: 'cart', authority: 'cart.shop:50051', method: 'shop.Cart/Add',
    code: 'RESOURCE_EXHAUSTED', refused: 'budget',
    message: 'overloaded, do not retry: budget used up after 2 attempts, last UNAVAILABLE: down',
    attempts: [
      {endpoint: '10.0.0.7:50051', start_seconds: 0.00001, duration_seconds: 0.001,
       code: 'UNAVAILABLE', trigger: '', delay_seconds: 0},
      {endpoint: '10.0.0.8:50051', start_seconds: 0.02602, duration_seconds: 0.01998,
       code: 'UNAVAILABLE', trigger: 'status', delay_seconds: 0.0245},
    ],
    why: 'retried once after UNAVAILABLE, then not: budget used up',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', ...more,
  };
}

export function rescuedCall(second, more = {}) {
  const call = refusedCall(second);
  return {
    ...call, start: call.start + 0.1, code: 'OK', message: '', refused: '', method: 'shop.Cart/Get',
    why: 'retried once after UNAVAILABLE, then OK',
    attempts: [call.attempts[0], {...call.attempts[1], code: 'OK'}], ...more,
  };
}

export function stateAt(second, {sidecar, configuration, ...more} = {}) {
  return {
    next: second, time: STARTED + second + 0.4, instance: 'a',
    sidecar: {
      version: '0.1.0', commit: 'a1b2c3d4e5f6', phase: 'PHASE_SERVING', started: STARTED,
      workers: 1, active_calls: 12, downstream_connections: 4, limit_hits: {}, listeners: ['egress 127.0.0.1:9460'],
      ...sidecar,
    },
    configuration: {
      sha256: HASH, loaded: STARTED, files: ['/etc/levee/levee.yaml'], reloads: 0,
      refused_reloads: 0, last_reload_refused: false, faults: [], last_attempt: 0, warnings: [],
      ...configuration,
    },
    upstreams: [], calls: [], ...more,
  };
}

export const calm = (second) => stateAt(second, {
  upstreams: [calmUpstream('cart', second),
              calmUpstream('payment', second, {rates: quietRates(3.2)})],
});

export const storm = (second) => stateAt(second, {
  upstreams: [stormyUpstream('cart', second),
              calmUpstream('payment', second, {rates: quietRates(3.2)})],
  calls: range(second - 19, second).flatMap((n) => [refusedCall(n), rescuedCall(n)]),
});

export const guarded = (second) => stateAt(second, {
  upstreams: [guardedUpstream('app', second), calmUpstream('payment', second)],
});

function quietRates(calls) {
  return {calls_per_second: calls, attempts_per_second: calls, retries_per_second: 0, callers_ok: 1,
          attempts_ok: 1, amplification: 1, p99_seconds: 0.0081};
}

export function range(first, last) {
  return Array.from({length: Math.max(0, last - first + 1)}, (_, i) => first + i);
}

export const many = (second) => stateAt(second, {
  upstreams: range(1, 20).map((n) => n % 4 === 2
      ? stormyUpstream(`upstream-${n}`, second, {severity: n === 10 ? 'SEVERITY_ALARM' : undefined})
      : calmUpstream(`upstream-${n}`, second)),
  calls: range(second - 99, second).map((n) => refusedCall(n, {upstream: 'upstream-10'})),
});

// Everything that a banner may say, at once.
export const troubled = (second) => {
  const state = storm(second);
  return {
    ...state,
    sidecar: {
      ...state.sidecar, phase: 'PHASE_DRAINING', limit_hits: {replay_bytes: 12},
      ...shared(state.time),
    },
    configuration: {
      ...state.configuration, reloads: 2, refused_reloads: 1, last_reload_refused: true,
      last_attempt: state.time - 75,
      faults: ['levee.yaml:13:21: LV101 policies[0].retry.max_atempts: unknown field; did you ' +
               'mean max_attempts?',
               'levee.yaml:20:3: LV104 routes[1].upstream: "crat" is not an upstream'],
      certificates: [
        {of: 'upstream cart', source: 'unix:///run/spire/agent.sock', identity: 'spiffe://shop/web',
         begins: state.time - 600, expires: state.time + 3000,
         fault: 'UNAVAILABLE: connection refused'},
        {of: 'listener ingress', source: '/etc/levee/tls.crt', identity: 'web.shop',
         begins: state.time - 600, expires: state.time + 86400 * 40, fault: ''},
      ],
      warnings: ['levee.yaml:9:5: LV201 policies[0].retry.budget.ratio: 3 allows four times the load'],
    },
  };
};

// Of a sidecar with a cluster, one of whose nodes is away, and a rate limit service.
export const shared = (time) => ({
  stores: [
    {name: 'ratelimit.shop:8081', kind: 'service', connected: true, since: time - 200, failure: '',
     nodes: [], requests_per_second: {ok: 4}, p50_seconds: 0.0008, p99_seconds: 0.0021},
    {name: 'shared', kind: 'cluster', connected: false, since: time - 12.3,
     failure: '10.0.0.8:6379: connection refused',
     nodes: [{address: '10.0.0.7:6379', ready: true, failure: ''},
             {address: '10.0.0.8:6379', ready: false, failure: 'connection refused'}],
     requests_per_second: {ok: 118, unavailable: 2}, p50_seconds: 0.0004, p99_seconds: 0.002},
  ],
  shared_limits: [
    {policy: 'default', limit: 'all', store: 'ratelimit.shop:8081', state: 'leased',
     on_failure: 'allow', per_second: 312.4, permits_left: 41, keys: 0},
    {policy: 'default', limit: 'tenant', store: 'shared', state: 'stale', on_failure: 'last',
     per_second: 97.5, permits_left: 0, keys: 12},
  ],
  keys: {payments: {keys: 1200, bytes: 1572864, in_flight: 3,
                    results: {first: 1180, replayed: 19, lost: 1}}},
});

// Texts that a peer may try: markup and long words wherever text comes from outside.
export const hostile = (second) => {
  const markup = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>';
  const long = 'a'.repeat(300);
  return stateAt(second, {
    upstreams: [stormyUpstream(markup, second, {
      verdict: markup,
      endpoints: [{address: markup, state: markup, active: 1, failure: long, authority: markup}],
    })],
    calls: [refusedCall(second, {
      upstream: markup, method: markup + long, message: markup, authority: markup, why: markup,
      listener: markup, trace_id: markup, code: markup, refused: markup,
      attempts: [{endpoint: markup, start_seconds: 0, duration_seconds: 0.01, code: markup,
                  trigger: markup, delay_seconds: 0}],
    })],
    configuration: {sha256: markup, files: [markup], faults: [markup], warnings: [markup],
                    last_reload_refused: true, last_attempt: STARTED,
                    certificates: [{of: markup, source: markup + long, identity: markup + long,
                                    begins: 0, expires: STARTED, fault: markup}]},
    sidecar: {
      version: markup, commit: markup, limit_hits: {[markup]: 1},
      stores: [{name: markup, kind: markup, since: 0, failure: markup + long,
                nodes: [{address: markup, failure: long}], requests_per_second: {[markup]: 1}}],
      shared_limits: [{policy: markup, limit: markup, store: markup, state: markup, on_failure: markup}],
      keys: {[markup]: {keys: 1}},
    },
  });
};

export const empty = (second) => stateAt(second);
