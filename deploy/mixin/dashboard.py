#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints dashboard.json, the Grafana dashboard: `python3 dashboard.py > dashboard.json`.

The panels stand in the order in which somebody asks in a storm, two side by side.
"""

import json
from typing import NamedTuple

RUNBOOKS = 'https://example.com/levee/docs/runbooks'
SELECTED = 'namespace=~"$namespace", upstream=~"$upstream"'
SIDECARS = 'namespace=~"$namespace"'
# As in rules.yaml: codes that say that the call could not be done.
FAILED = ('code=~"UNKNOWN|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|'
          'DATA_LOSS"')
DATASOURCE = {'type': 'prometheus', 'uid': '${datasource}'}
WIDTH, HEIGHT = 12, 8  # Of 24 columns; a row is 30 pixels high.


class Panel(NamedTuple):
    title: str
    description: str
    unit: str  # As Grafana names it.
    targets: tuple  # of (legend, expression)
    kind: str = 'timeseries'
    runbooks: tuple = ()
    most: float = None  # The axis' end, where it is not the data's.
    stacked: bool = False
    columns: tuple = ()  # Of a table: (name, unit) of each target.


def rate(metric, matchers='', selected=SELECTED):
    """The rate of a counter's series, as far as they are selected."""
    chosen = ', '.join(part for part in (selected, matchers) if part)
    return f'rate({metric}{{{chosen}}}[$__rate_interval])'


def total(metric, matchers='', by='upstream', selected=SELECTED):
    return f'sum by ({by}) ({rate(metric, matchers, selected)})'


def overall(metric, matchers=''):
    return f'sum({rate(metric, matchers)})'


def quantile(share, metric, by='le'):
    return f'histogram_quantile({share}, {total(metric + "_bucket", by=by)})'


def success(metric):
    return (f'1 - {total(metric, FAILED)} / '
            + total(metric, 'code!="CANCELLED"'))


def of_sidecars(expression):
    """Keeps of every program's process_* metrics those of sidecars, a value for each."""
    return (f'sum by (instance) ({expression} and on (instance) '
            f'levee_build_info{{{SIDECARS}}})')


PANELS = (
    Panel('How much is the load amplified?',
          'Attempts per call, without the retries of the application. The bound is what the defaults '
          'allow: retries for 10% of the calls in 10 s, or the minimum of the budget (floor) if '
          'there are few calls and retries succeed; three attempts at most. More than 1.5 is '
          'always a storm: the application retries by itself, or a policy allows it.',
          'none',
          (('{{upstream}}',
            f'{total("levee_attempts_total")} / ({total("levee_call_attempts_count")} - '
            + total('levee_app_retries_total', 'action="admitted"') + ')'),
           ('bound of {{upstream}}',
            f'1 + clamp(sum by (upstream) (levee_retry_budget_limit{{{SELECTED}}}) / '
            f'(10 * {total("levee_calls_total")}), 0.1, 2)')),
          runbooks=('retry-storm',)),
    Panel('How many calls and retries are there?',
          'Calls come from the application, attempts go to the upstream; retries are the part of '
          'the attempts that Levee added.',
          'reqps',
          (('calls', overall('levee_calls_total')),
           ('attempts', overall('levee_attempts_total')),
           ('retries', overall('levee_retries_total'))),
          runbooks=('retry-storm',)),
    Panel('What do callers see, and what does the upstream do?',
          'Shares that did not fail, of calls and of attempts, without what was cancelled. Between '
          'the two lines is what retries hide.',
          'percentunit',
          (('callers of {{upstream}}', success('levee_calls_total')),
           ('attempts at {{upstream}}', success('levee_attempts_total'))),
          runbooks=('error-budget-burn-fast', 'error-budget-burn-slow', 'retries-mask-failures'),
          most=1),
    Panel('How much of the retry budget is left?',
          'Retries that all sidecars together may make now, as a share of those that they may make '
          'at once while the budget is full. The minimum of the budget (floor) does not count while '
          'too few attempts succeed. Then only the share of the calls counts. Without a line no '
          'retry is allowed, for example if there are no calls in an outage.',
          'percentunit',
          (('left for {{upstream}}',
            f'sum by (upstream) (levee_retry_budget_available{{{SELECTED}}}) / '
            f'sum by (upstream) (levee_retry_budget_at_once{{{SELECTED}}})'),
           ('sidecars without the minimum of {{upstream}}',
            f'avg by (upstream) (levee_retry_budget_floor_withheld{{{SELECTED}}})')),
          runbooks=('retry-budget-exhausted',), most=1),
    Panel('What makes retries necessary?',
          'Retries by what came before: a status that the server said, an answer that is not gRPC, '
          'a refused stream, no connection, a lost one, a timeout; or a hedge.',
          'reqps',
          (('{{trigger}} {{code}}', total('levee_retries_total', by='trigger, code') + ' > 0'),),
          stacked=True),
    Panel('Why was it not retried?',
          'Calls for which a retry was wanted but not made, by reason.',
          'reqps',
          (('{{reason}}', total('levee_retries_refused_total', by='reason')),),
          runbooks=('retry-budget-exhausted', 'upstream-overloaded'), stacked=True),
    Panel('How many attempts do calls take?',
          'Calls by the number of their attempts; transparent ones are left out.',
          'short',
          (('{{le}}', f'sum by (le) (increase(levee_call_attempts_bucket{{{SELECTED}}}'
                      '[$__rate_interval]))'),),
          kind='heatmap'),
    Panel('Which share of the calls is retried?',
          'Calls with more than one attempt: rescued, or in vain.',
          'percentunit',
          tuple((name,
                 f'({overall("levee_call_attempts_count", result)} - '
                 + overall('levee_call_attempts_bucket', f'{result}, le="1"') + ') / '
                 + overall('levee_call_attempts_count'))
                for name, result in (('rescued', 'result="ok"'), ('in vain', 'result="error"'))),
          stacked=True),
    Panel('How long do retries wait?',
          'Backoff: the delays chosen before retries. Delay: the time that a call with several '
          'attempts spent without an active one.',
          's',
          (('backoff, half', quantile(0.5, 'levee_retry_backoff_seconds')),
           ('backoff, 99%', quantile(0.99, 'levee_retry_backoff_seconds')),
           ('delay of calls, 99%', quantile(0.99, 'levee_call_retry_delay_seconds')))),
    Panel('Which retries wait for a success?',
          'Retries that nothing pays for wait for a success, for up to budget.wait. Waiting: how '
          'many do now. Per second: those that a success released, those that waited in vain and '
          'were refused, and those whose call ended meanwhile.',
          'short',
          (('waiting for {{upstream}}',
            f'sum by (upstream) (levee_retries_waiting{{{SELECTED}}})'),
           ('{{result}} per second, {{upstream}}',
            total('levee_retries_waited_total', by='upstream, result') + ' > 0')),
          runbooks=('retry-budget-exhausted',)),
    Panel('How slow is it for callers, and how slow is the upstream?',
          'Durations of calls, retries and their delays included, and of single attempts.',
          's',
          (('calls to {{upstream}}, 99%',
            quantile(0.99, 'levee_call_duration_seconds', 'le, upstream')),
           ('attempts at {{upstream}}, 99%',
            quantile(0.99, 'levee_attempt_duration_seconds', 'le, upstream')),
           ('calls to {{upstream}}, half',
            quantile(0.5, 'levee_call_duration_seconds', 'le, upstream')))),
    Panel('Does the application retry by itself?',
          'Calls that came as the application\'s own retries, by what shows it: the header, or an '
          'equal call that failed a moment ago. They are held to the same budget unless the policy '
          'says otherwise; refused ones are answered "do not retry".',
          'reqps',
          (('{{upstream}}: {{action}}, by {{seen_by}}',
            total('levee_app_retries_total', by='upstream, action, seen_by')),),
          runbooks=('application-retries',)),
    Panel('Who says "overloaded, do not retry"?',
          'Overload signals received from upstreams, and sent to callers, for the whole service or '
          'for one endpoint.',
          'reqps',
          (('{{upstream}}: {{direction}}, {{scope}}',
            total('levee_overload_marks_total', by='upstream, direction, scope')),),
          runbooks=('upstream-overloaded',)),
    Panel('How many calls does the throttle reject?',
          'Calls that the throttle did not send, because the upstream is overloaded (rejected), and '
          'calls that it would not have sent if its policy had mode: enforce (observed).',
          'reqps',
          (('{{upstream}}: {{decision}}',
            total('levee_throttle_decisions_total', 'decision!="admitted"',
                  'upstream, decision')),),
          runbooks=('throttle-rejects',)),
    Panel('How likely is it that the throttle rejects a call?',
          'The probability in the sidecar in which it is highest. It is above 0 if less than one '
          'answer in k comes without a sign of overload. A throttle that observes has it, too.',
          'percentunit',
          (('{{upstream}}',
            f'max by (upstream) (levee_throttle_probability{{{SELECTED}}})'),),
          runbooks=('throttle-rejects',), most=1),
    Panel('Whom does the guard refuse?',
          'Calls to the application that its guard refused, by their priority (0 is the highest) and '
          'why; a guard that observes counts those that it would refuse.',
          'reqps',
          (('{{upstream}}: priority {{priority}}, {{reason}}',
            total('levee_guard_calls_total', 'decision="refused"',
                  'upstream, priority, reason')),),
          runbooks=('guard-refusing', 'guard-refuses-high-priority'), stacked=True),
    Panel('How many calls may the application work on?',
          'Of all sidecars together: the limit of the guard, the least that its policy allows, the '
          'calls that have a slot, and those that wait for one.',
          'short',
          tuple((f'{name}, {{{{upstream}}}}', f'sum by (upstream) ({metric}{{{SELECTED}}})')
                for name, metric in (('limit', 'levee_guard_limit'),
                                     ('least', 'levee_guard_limit_min'),
                                     ('in flight', 'levee_guard_in_flight'),
                                     ('waiting', 'levee_guard_queue_length'))),
          runbooks=('guard-limit-at-min',)),
    Panel('How long do calls wait for a slot?',
          'Of the calls that found none: until they got one, or were refused.',
          's',
          (('{{upstream}}, half', quantile(0.5, 'levee_guard_queue_seconds', 'le, upstream')),
           ('{{upstream}}, 99%', quantile(0.99, 'levee_guard_queue_seconds', 'le, upstream'))),
          runbooks=('guard-refusing',)),
    Panel('How much of what comes are retries?',
          'Shares of the calls that came, by the attempts that their callers had made before, and the '
          'share of retries that callers\' sidecars report, refused ones included. Above '
          'scope.retries (0.1) of either, refusals are meant for the whole service.',
          'percentunit',
          (('{{upstream}}: attempt {{attempt}}',
            total('levee_guard_arrivals_total', by='upstream, attempt')
            + ' / on (upstream) group_left '
            + total('levee_guard_arrivals_total')),
           ('{{upstream}}: reported',
            f'max by (upstream) (levee_guard_reported_retry_share{{{SELECTED}}})')),
          runbooks=('guard-refusing',), most=1),
    Panel('Which codes do callers and attempts get?',
          'Ended calls and attempts by their code.',
          'reqps',
          (('callers: {{code}}', total('levee_calls_total', by='code') + ' > 0'),
           ('attempts: {{code}}', total('levee_attempts_total', by='code') + ' > 0'))),
    Panel('Is it one endpoint or all?',
          'Endpoints as all sidecars see them, each for itself.',
          'short',
          (('{{upstream}}: {{state}}',
            f'sum by (upstream, state) (levee_endpoints{{{SELECTED}}}) > 0'),),
          runbooks=('retries-mask-failures',)),
    Panel('Which methods are worst?',
          'The ten methods of which most calls failed, over the range shown.',
          'short',
          (('', 'topk(10, sum by (upstream, method) (increase(levee_calls_total{'
                f'{SELECTED}, {FAILED}}}[$__range])))'),),
          kind='table', columns=(('failed calls', 'short'),),
          runbooks=('error-budget-burn-fast',)),
    Panel('Which limits refuse something?',
          'Calls that a rate limit rejected or delayed, limits of the sidecar that were reached, and '
          'calls that the sidecar ended because it broke a rule of its own. All are those of the '
          'whole namespace.',
          'cps',
          (('rate limit {{limit}}: {{decision}}',
            total('levee_rate_limit_decisions_total', 'decision!="admitted"', 'limit, decision',
                  SIDECARS)),
           ('limit {{limit}}',
            total('levee_limit_hits_total', '', 'limit', SIDECARS) + ' > 0'),
           ('calls that Levee broke', f'sum({rate("levee_broken_calls_total", "", SIDECARS)})')),
          runbooks=('rate-limit-rejecting', 'limit-hit', 'call-broken')),
    Panel('Who decides shared limits?',
          'Sidecars by the source of their permits for a limit that all share. leased: the store '
          'grants them. stale: the store is unreachable, and the last rate holds. fallback: it is '
          'unreachable for longer, and on_failure decides.',
          'short',
          (('{{limit}}: {{state}}',
            f'sum by (limit, state) (levee_rate_limit_lease{{{SIDECARS}}})'),),
          runbooks=('limit-starved',), stacked=True),
    Panel('Do the stores answer?',
          'Requests to Redis for leases and keys, by how they ended, and sidecars without a '
          'connection.',
          'short',
          (('{{store}}: {{result}} per second',
            total('levee_store_requests_total', '', 'store, result', SIDECARS)),
           ('sidecars without {{store}}',
            f'sum by (store) (1 - levee_store_connected{{{SIDECARS}}})')),
          runbooks=('store-away',)),
    Panel('What becomes of calls with an idempotency key?',
          'The first with a key runs; the others get its answer, wait for it or are refused. Lost: '
          'nobody knows whether the first one ran. Store failed: the key could not be kept.',
          'reqps',
          (('{{upstream}}: {{result}}',
            total('levee_dedupe_calls_total', by='upstream, result')),),
          runbooks=('claims-lost',)),
    Panel('How much do idempotency keys take?',
          'Memory of the keys and answers that sidecars keep, which dedupe.max_bytes bounds in each.',
          'bytes',
          (('{{upstream}}', f'sum by (upstream) (levee_dedupe_bytes{{{SELECTED}}})'),)),
    Panel('Which TLS handshakes fail?',
          'By side and result: client is Levee before an upstream, server is Levee before its '
          'callers, store is Levee before a store.',
          'cps',
          (('{{side}} of {{upstream}}: {{result}}',
            total('levee_tls_handshakes_total', 'result!="success"', 'upstream, side, result',
                  SIDECARS)),),
          runbooks=('certificate-ends-soon',)),
    Panel('How much of their life do certificates have left?',
          'Those that Levee shows. Below 20% one should have been replaced.',
          'percentunit',
          (('{{kind}} of {{upstream}}',
            f'min by (upstream, kind) ((levee_tls_certificate_expiry_timestamp_seconds{{{SIDECARS}}} '
            '- time()) / (levee_tls_certificate_expiry_timestamp_seconds '
            '- levee_tls_certificate_not_before_timestamp_seconds))'),),
          most=1, runbooks=('certificate-ends-soon',)),
    Panel('Are the sidecars well?',
          'A row for each sidecar of the namespace. A configuration that is not its newest one was '
          'refused.',
          'short',
          (('', of_sidecars('rate(process_cpu_seconds_total[$__rate_interval])')),
           ('', of_sidecars('process_resident_memory_bytes')),
           ('', of_sidecars('process_open_fds / process_max_fds')),
           ('', f'sum by (instance) (levee_active_calls{{{SIDECARS}}})'),
           ('', f'min by (instance) (levee_config_last_reload_successful{{{SIDECARS}}})'),
           ('', f'time() - max by (instance) (process_start_time_seconds '
                f'and on (instance) levee_build_info{{{SIDECARS}}})')),
          kind='table', runbooks=('config-reload-failed',),
          columns=(('CPUs', 'short'), ('memory', 'bytes'), ('file descriptors', 'percentunit'),
                   ('active calls', 'short'), ('newest configuration', 'bool_yes_no'),
                   ('running for', 's'))),
)


def options(panel):
    if panel.kind == 'heatmap':
        return {'calculate': False, 'cellGap': 1, 'yAxis': {'unit': 'short'},
                'rowsFrame': {'layout': 'le', 'value': 'calls'},
                'color': {'mode': 'scheme', 'scheme': 'Oranges', 'steps': 64, 'exponent': 0.5,
                          'fill': 'dark-orange', 'reverse': False, 'scale': 'exponential'},
                'cellValues': {'unit': 'short'}, 'legend': {'show': True}, 'showValue': 'never',
                'exemplars': {'color': 'rgba(255,0,255,0.7)'},
                'tooltip': {'show': True, 'mode': 'single', 'yHistogram': False}}
    if panel.kind == 'table':
        return {'showHeader': True, 'cellHeight': 'sm'}
    return {'legend': {'calcs': [], 'displayMode': 'list', 'placement': 'bottom',
                       'showLegend': True},
            'tooltip': {'mode': 'multi', 'sort': 'desc'}}


def field_config(panel):
    custom = {'fillOpacity': 30 if panel.stacked else 0, 'lineWidth': 1, 'showPoints': 'never',
              'stacking': {'mode': 'normal' if panel.stacked else 'none', 'group': 'A'}}
    defaults = {'unit': panel.unit, 'custom': custom if panel.kind == 'timeseries' else {}}
    if panel.kind == 'timeseries':
        defaults['min'] = 0
    if panel.most is not None:
        defaults['max'] = panel.most
    overrides = [{'matcher': {'id': 'byName', 'options': name},
                  'properties': [{'id': 'unit', 'value': unit}]} for name, unit in panel.columns]
    return {'defaults': defaults, 'overrides': overrides}


def transformations(panel):
    """A table: one row per label set, a column per target, without the time."""
    if panel.kind != 'table':
        return []
    several = len(panel.columns) > 1
    names = {(f'Value #{chr(ord("A") + i)}' if several else 'Value'): name
             for i, (name, _) in enumerate(panel.columns)}
    joined = [{'id': 'merge', 'options': {}}] if several else []
    return joined + [{'id': 'organize', 'options': {'excludeByName': {'Time': True},
                                                    'indexByName': {}, 'renameByName': names}}]


def targets(panel):
    table = panel.kind == 'table'
    formats = {'heatmap': 'heatmap', 'table': 'table', 'timeseries': 'time_series'}
    return [{'refId': chr(ord('A') + i), 'datasource': DATASOURCE, 'expr': expression,
             'editorMode': 'code', 'format': formats[panel.kind], 'legendFormat': legend,
             'instant': table, 'range': not table}
            for i, (legend, expression) in enumerate(panel.targets)]


def link(runbook):
    return {'title': f'Runbook: {runbook}', 'url': f'{RUNBOOKS}/{runbook}.md', 'type': 'link',
            'targetBlank': True, 'asDropdown': False, 'icon': '', 'includeVars': False,
            'keepTime': False, 'tags': [], 'tooltip': ''}


def drawn(number, panel):
    """The panel as Grafana reads it."""
    return {
        'id': number + 1, 'type': panel.kind, 'title': panel.title,
        'description': panel.description, 'datasource': DATASOURCE,
        'gridPos': {'x': WIDTH * (number % 2), 'y': HEIGHT * (number // 2), 'w': WIDTH,
                    'h': HEIGHT},
        'links': [link(name) for name in panel.runbooks],
        'fieldConfig': field_config(panel), 'options': options(panel), 'targets': targets(panel),
        'transformations': transformations(panel),
    }


def variable(name, label, metric):
    """One that takes its values from a metric's label; All also matches where there is none."""
    query = f'label_values({metric}, {name})'
    return {'name': name, 'label': label, 'type': 'query', 'datasource': DATASOURCE,
            'query': {'query': query, 'refId': name}, 'definition': query, 'refresh': 2, 'sort': 1,
            'multi': True, 'includeAll': True, 'allValue': '.*', 'hide': 0, 'regex': '',
            'skipUrlSync': False, 'options': [],
            'current': {'selected': True, 'text': ['All'], 'value': ['$__all']}}


def dashboard():
    datasource = {'name': 'datasource', 'label': 'Data source', 'type': 'datasource',
                  'query': 'prometheus', 'hide': 0, 'regex': '', 'refresh': 1,
                  'skipUrlSync': False, 'multi': False, 'includeAll': False, 'options': []}
    return {
        'uid': 'levee', 'title': 'Levee', 'tags': ['levee', 'grpc'], 'schemaVersion': 37,
        'description': 'Retries, and why not: what the sidecars of a namespace do.',
        'editable': True, 'graphTooltip': 1, 'refresh': '30s', 'timezone': '', 'weekStart': '',
        'time': {'from': 'now-1h', 'to': 'now'}, 'timepicker': {}, 'links': [],
        'annotations': {'list': []}, 'fiscalYearStartMonth': 0, 'liveNow': False,
        'templating': {'list': [
            datasource, variable('namespace', 'Namespace', 'levee_build_info'),
            variable('upstream', 'Upstream', 'levee_calls_total{namespace=~"$namespace"}')]},
        'panels': [drawn(number, panel) for number, panel in enumerate(PANELS)],
    }


if __name__ == '__main__':
    print(json.dumps(dashboard(), indent=2))
