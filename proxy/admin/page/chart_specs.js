// SPDX-License-Identifier: Apache-2.0
// What the charts show of samples. Pure; charts.js draws it.
import * as format from './format.js';
import {LAYERS, perLayer} from './reasons.js';

const share = (part, all) => all > 0 ? part / all : null;
const perSecond = (value) => `${format.rate(value)}/s`;
const layerColor = (key) => `--layer-${key}`;
const percents = [0, 0.25, 0.5, 0.75, 1].map((v) => ({v, label: format.percent(v)}));

// A series: its `label`, its `color` (a property of the style sheet), what a sample says of it
// (`of`; null: nothing), how that is put (`text`), and how it is drawn: `fill`, `dash`.
// `stacked` charts draw each series on top of those after it. `top` and `ticks`: where
// the values end, and what the axis names of them; without these both depend on the samples.
export const CHARTS = [
  {
    title: 'Calls and attempts',
    series: [
      {label: 'attempts', color: '--attempts', of: (s) => s.attempts, text: perSecond},
      {label: 'calls', color: '--calls', of: (s) => s.calls, text: perSecond, fill: true},
      {label: 'application retries', color: '--apps', of: (s) => s.app_retries, text: perSecond,
       dash: [3, 3]},
    ],
  },
  {
    title: 'Attempts per call',
    series: [
      {label: 'attempts per call', color: '--attempts', text: format.amplification,
       of: (s) => s.amplification > 0 ? s.amplification : null},
      {label: 'bound over the window', color: '--limit', text: format.amplification, dash: [6, 3],
       of: (s) => s.budget_ratio > 0 ? 1 + s.budget_ratio : null},
    ],
  },
  {
    title: 'Success',
    top: 1.05,
    ticks: percents,
    series: [
      {label: 'seen by callers', color: '--calls', text: format.percent,
       of: (s) => share(s.calls_ok, s.calls - (s.calls_cancelled ?? 0))},
      {label: 'of attempts', color: '--attempts', text: format.percent, dash: [6, 3],
       of: (s) => share(s.attempts_ok, s.attempts - (s.attempts_cancelled ?? 0))},
    ],
  },
  {
    title: 'Retry budget',
    series: [
      {label: 'retries left', color: '--budget', of: (s) => s.budget_available,
       text: format.rate, fill: true},
      {label: 'at most', color: '--limit', of: (s) => s.budget_at_once, text: format.rate,
       dash: [6, 3]},
    ],
  },
  {
    title: 'Waiting for a success',
    series: [
      {label: 'retries that wait', color: '--budget', of: (s) => s.retries_waiting ?? 0,
       text: format.rate, fill: true},
      {label: 'released', color: '--calls', of: (s) => s.waits_released ?? 0, text: perSecond},
      {label: 'expired', color: '--attempts', of: (s) => s.waits_expired ?? 0, text: perSecond,
       dash: [6, 3]},
    ],
  },
  {
    title: 'Refused',
    stacked: true,
    series: LAYERS.map(({key, name}, i) => (
        {label: name, color: layerColor(key), of: (s) => perLayer(s.refused)[i],
         text: perSecond})).reverse(),
  },
];

const refusedFor = (reason) => ({guard}) => guard?.refused?.[reason] ?? 0;

// The charts of a guard. A sample has `guard` where there was one.
export const GUARD_CHARTS = [
  {
    title: 'Slots',
    series: [
      {label: 'calls in the service', color: '--calls', of: ({guard}) => guard?.in_flight ?? null,
       text: format.count, fill: true},
      {label: 'limit', color: '--limit', of: ({guard}) => guard?.limit > 0 ? guard.limit : null,
       text: format.count, dash: [6, 3]},
      {label: 'calls that wait', color: '--attempts', of: ({guard}) => guard?.queue_length ?? null,
       text: format.count},
    ],
  },
  {
    title: 'Decisions',
    stacked: true,
    series: [
      {label: 'refused, no slot', color: '--apps', of: refusedFor('concurrency'), text: perSecond},
      {label: 'refused, queue', color: '--attempts', of: refusedFor('queue'), text: perSecond},
      {label: 'waited', color: '--budget', of: ({guard}) => guard?.queued ?? 0, text: perSecond},
      {label: 'admitted', color: '--calls', of: ({guard}) => guard?.admitted ?? 0,
       text: perSecond},
    ],
  },
  {
    title: 'Retries',
    top: 1.05,
    ticks: percents,
    series: [
      {label: 'of calls that come', color: '--attempts', text: format.percent,
       of: ({guard}) => guard?.arrived_retry_share ?? null},
      {label: 'reported by callers', color: '--apps', text: format.percent, dash: [3, 3],
       of: ({guard}) => guard?.reported_retry_share ?? null},
    ],
  },
];

// The rows that Dygraphs draws: a time, and a value of each series, null where there is none.
// `started`: the wall clock's time at second 0. A chart without samples has one row, of no values.
export function rows(chart, samples, started) {
  if (samples.length === 0) return [[started, ...chart.series.map(() => null)]];
  return samples.map((sample) => [started + sample.number,
                                  ...chart.series.map(({of}) => of(sample) ?? null)]);
}

// Where a chart's values end at the top, with some room above the highest of the samples.
export function ceiling(chart, samples) {
  if (chart.top !== undefined) return chart.top;
  const highest = (values) => chart.stacked ? values.reduce((sum, value) => sum + value, 0)
                                            : Math.max(...values);
  const peaks = samples.map((sample) => highest(chart.series.map(({of}) => of(sample) ?? 0)));
  return Math.max(1, ...peaks.map((peak) => peak * 1.08));
}

// What a sample says of a series, in words.
export function valueText(series, sample) {
  const value = sample === undefined ? null : series.of(sample);
  return value === null || value === undefined ? format.NOTHING : series.text(value);
}

// Short labels of an axis: 1500 -> "1.5k".
export function tick(value) {
  return value >= 1000 ? `${Number((value / 1000).toFixed(1))}k` : String(Number(value.toFixed(2)));
}
