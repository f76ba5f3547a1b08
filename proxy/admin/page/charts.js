// Four synchronised charts of one upstream, their values as text, and the slider that looks back.
import {CHARTS, columns, tick, valueText} from './chart_specs.js';
import {byId, el, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {SECONDS_KEPT} from './store.js';

const HEIGHT = 150;
const SECONDS_SHOWN_MIN = 60;  // of a sidecar that has just been started

// uPlot is a plain script, loaded before this module.
const {uPlot} = globalThis;

export class Charts {
  #charts = [];
  #samples = [];
  #started = 0;
  #end = 0;
  #span = SECONDS_SHOWN_MIN;  // seconds up to the end that are shown
  #pinned = null;  // the time that the slider stays at; null: now
  #slider = byId('lookback');

  constructor() {
    for (const spec of CHARTS) this.#charts.push(new Chart(spec, (at) => this.#show(at)));
    byId('charts').append(...this.#charts.map(({node}) => node));
    this.#slider.addEventListener('input', () => this.#lookBack());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      for (const chart of this.#charts) chart.restyle();
      this.#draw();
    });
  }

  // Samples, the oldest first, up to second `last`.
  update(samples, started, last) {
    this.#samples = samples;
    this.#started = started;
    this.#end = started + last;
    this.#span = Math.min(SECONDS_KEPT, Math.max(SECONDS_SHOWN_MIN, last));
    this.#slider.max = String(this.#span);
    if (this.#pinned !== null && this.#end - this.#pinned > this.#span) this.#pinned = null;
    this.#draw();
  }

  #draw() {
    for (const chart of this.#charts) {
      chart.draw(this.#samples, this.#started, {min: this.#end - this.#span, max: this.#end});
    }
    this.#point();
  }

  #lookBack() {
    const back = this.#span - Number(this.#slider.value);
    this.#pinned = back === 0 ? null : this.#end - back;
    this.#point();
  }

  // Moves the charts' cursors and the slider to what is pinned.
  #point() {
    const back = this.#pinned === null ? 0 : this.#end - this.#pinned;
    if (!this.#slider.matches(':active')) this.#slider.value = String(this.#span - back);
    if (this.#pinned === null && this.#charts.some((chart) => chart.hovered)) return;
    for (const chart of this.#charts) chart.point(this.#pinned);
    this.#show(this.#pinned === null ? null : this.#indexAt(this.#pinned));
  }

  // Of the first sample at a time or later, seconds being left out at times.
  #indexAt(time) {
    const at = this.#samples.findIndex(({number}) => this.#started + number >= time);
    return at < 0 ? null : at;
  }

  // Says what the sample at an index says; null: the last one.
  #show(at) {
    const sample = this.#samples[at ?? this.#samples.length - 1];
    for (const chart of this.#charts) chart.say(sample);
    const time = at === null || sample === undefined ? 'now'
                                                     : format.clock(this.#started + sample.number);
    setText(byId('lookback-at'), time);
    const values = this.#pinned === null ? [] : this.#charts.map((chart) => chart.summary(sample));
    setAttribute(this.#slider, 'aria-valuetext', [time, ...values].join('; '));
  }
}

class Chart {
  node;
  #spec;
  #say;
  #plot = el('div', {class: 'plot', 'aria-hidden': 'true'});
  #values;
  #keys;
  #uplot = null;
  #data = null;
  #onCursor;

  constructor(spec, onCursor) {
    this.#spec = spec;
    this.#onCursor = onCursor;
    this.#values = spec.series.map(() => el('b'));
    this.#keys = spec.series.map((series, i) => {
      const swatch = el('i', {'data-dash': series.dash ? '' : null});
      swatch.style.setProperty('--key', `var(${series.color})`);
      return el('li', {}, swatch, `${series.label} `, this.#values[i]);
    });
    // The list reads from the bottom of a stack to its top.
    const legend = el('ul', {}, ...(spec.stacked ? [...this.#keys].reverse() : this.#keys));
    this.node = el('figure', {}, el('figcaption', {}, el('h3', {text: spec.title}), legend),
                   this.#plot);
    new ResizeObserver(() => this.#fit()).observe(this.#plot);
  }

  get hovered() {
    return this.#plot.matches(':hover');
  }

  // `range`: the times that are shown, {min, max}.
  draw(samples, started, range) {
    this.#data = columns(this.#spec, samples, started);
    if (this.#spec.stacked) this.#hideAbsent(samples);
    if (this.#uplot === null) this.#build();
    this.#uplot.batch(() => {  // All is done as this returns, so that point() meets the new scale.
      this.#uplot.setData(this.#data, false);
      this.#uplot.setScale('x', range);
    });
  }

  // Another colour scheme needs other colours; draw() builds it anew.
  restyle() {
    this.#uplot?.destroy();
    this.#uplot = null;
  }

  // Puts the cursor at a time, or away.
  point(time) {
    const left = time === null ? -10 : this.#uplot.valToPos(time, 'x');
    this.#uplot.setCursor({left, top: time === null ? -10 : 0}, false);
  }

  say(sample) {
    this.#spec.series.forEach((series, i) => setText(this.#values[i], valueText(series, sample)));
  }

  summary(sample) {
    return this.#spec.series
        .map((series) => `${series.label} ${valueText(series, sample)}`).join(', ');
  }

  #hideAbsent(samples) {
    this.#spec.series.forEach(({of}, i) => {
      this.#keys[i].hidden = !samples.some((sample) => of(sample) > 0);
    });
  }

  #fit() {
    const width = this.#plot.clientWidth;
    if (this.#uplot !== null && width > 0) this.#uplot.setSize({width, height: HEIGHT});
  }

  #build() {
    const options = chartOptions(this.#spec, this.#plot.clientWidth, (at) => this.#onCursor(at));
    this.#uplot = new uPlot(options, this.#data, this.#plot);
  }
}

function chartOptions(spec, width, onCursor) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--muted'), font: `11px ${style.fontFamily}`,
    grid: {stroke: color('--grid'), width: 1}, ticks: {show: false},
  };
  return {
    width: width || 300, height: HEIGHT, legend: {show: false}, padding: [8, 18, 0, 0],
    cursor: {sync: {key: 'levee'}, drag: {x: false, y: false}, y: false, points: {size: 5}},
    hooks: {setCursor: [({cursor}) => onCursor(cursor.idx ?? null)]},
    scales: {y: {range: (_, low, high) => [0, spec.top ?? Math.max(1, (high ?? 0) * 1.08)]}},
    axes: [
      {...axis, size: 22, gap: 4, space: 60, incrs: [15, 30, 60, 120, 300],
       values: (_, times, _axis, _space, step) => times.map(
           (time) => format.clock(time).slice(0, step < 60 ? 8 : 5))},
      {...axis, size: 42, gap: 4, space: 28,
       values: (_, values) => values.map((value) => spec.axis?.(value) ?? tick(value))},
    ],
    series: [{}, ...spec.series.map((series) => seriesOptions(spec, series, color))],
  };
}

function seriesOptions(spec, series, color) {
  const stroke = color(series.color);
  const common = {points: {show: false}, spanGaps: false};
  if (spec.stacked) {
    return {...common, stroke, width: 0, fill: stroke, paths: uPlot.paths.stepped({align: -1})};
  }
  // With an alpha of 0x26 lines and grid stay visible through the area.
  return {...common, stroke, width: 1.75, dash: series.dash, fill: series.fill && `${stroke}26`};
}
