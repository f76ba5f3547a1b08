// SPDX-License-Identifier: Apache-2.0
// The synchronised charts of one upstream, three more where it has a guard, their values as text,
// and the slider that looks back.
import {CHARTS, GUARD_CHARTS, ceiling, rows, tick, valueText} from './chart_specs.js';
import {byId, el, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {SECONDS_KEPT} from './store.js';

const HEIGHT = 150;
const SECONDS_SHOWN_MIN = 60;  // of a sidecar that has just been started
const STEPS = [15, 30, 60, 120, 300];  // seconds from one time that an axis names to the next
const LABEL_PIXELS = 56;  // at least, from one to the next

// Dygraphs is a plain script, loaded before this module. Of its plug-ins only these are wanted: the
// page has a legend of its own, and the one of Dygraphs sets a style that the page's policy forbids.
const {Dygraph} = globalThis;
Dygraph.PLUGINS = [Dygraph.Plugins.Grid, Dygraph.Plugins.Axes];

export class Charts {
  #always = [];
  #ofGuard = [];
  #charts = [];  // those that are shown
  #samples = [];
  #started = 0;
  #end = 0;
  #span = SECONDS_SHOWN_MIN;  // seconds up to the end that are shown
  #pinned = null;  // the time that the slider stays at; null: now
  #hovered = null;  // the time below the mouse; null: the mouse is elsewhere
  #slider = byId('lookback');

  constructor() {
    this.#always = this.#build(CHARTS, 'charts');
    this.#ofGuard = this.#build(GUARD_CHARTS, 'guard-charts');
    this.#slider.addEventListener('input', () => this.#lookBack());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      for (const chart of [...this.#always, ...this.#ofGuard]) chart.restyle();
      this.#draw();
    });
  }

  // Samples, the oldest first, up to second `last`. `guarded`: the charts of a guard are shown.
  update(samples, started, last, guarded) {
    this.#charts = guarded ? [...this.#always, ...this.#ofGuard] : this.#always;
    this.#samples = samples;
    this.#started = started;
    this.#end = started + last;
    this.#span = Math.min(SECONDS_KEPT, Math.max(SECONDS_SHOWN_MIN, last));
    this.#slider.max = String(this.#span);
    if (this.#pinned !== null && this.#end - this.#pinned > this.#span) this.#pinned = null;
    this.#draw();
  }

  #build(specs, id) {
    const charts = specs.map((spec) => new Chart(spec, (time) => this.#hover(time)));
    byId(id).append(...charts.map(({node}) => node));
    return charts;
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

  #hover(time) {
    this.#hovered = time;
    this.#point();
  }

  // Moves the charts' cursors to the moment that is looked at, the slider to what is pinned, and says
  // what was then.
  #point() {
    const back = this.#pinned === null ? 0 : this.#end - this.#pinned;
    if (!this.#slider.matches(':active')) this.#slider.value = String(this.#span - back);
    const time = this.#hovered ?? this.#pinned;
    const at = time === null ? -1 : this.#indexAt(time);
    for (const chart of this.#charts) chart.point(time, at);
    this.#say(this.#samples.at(at), at >= 0);
  }

  // Of the first sample at a time or later, seconds being left out at times; -1: there is none.
  #indexAt(time) {
    return this.#samples.findIndex(({number}) => this.#started + number >= time);
  }

  #say(sample, past) {
    for (const chart of this.#charts) chart.say(sample);
    const time = past ? format.clock(this.#started + sample.number) : 'now';
    setText(byId('lookback-at'), time);
    const values = this.#pinned === null ? [] : this.#charts.map((chart) => chart.summary(sample));
    setAttribute(this.#slider, 'aria-valuetext', [time, ...values].join('; '));
  }
}

class Chart {
  node;
  #spec;
  #canvas = el('div');
  #cursor = el('i', {class: 'cursor', hidden: ''});
  #area = el('div', {class: 'area'}, this.#cursor);  // lies over what has the axes at its edges
  #plot = el('div', {class: 'plot', 'aria-hidden': 'true'}, this.#canvas, this.#area);
  #values;
  #keys;
  #dygraph = null;
  #range = {min: 0, max: 1};
  #onHover;

  // `onHover` is called with the time below the mouse, or null when the mouse has left the chart.
  constructor(spec, onHover) {
    this.#spec = spec;
    this.#onHover = onHover;
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

  // `range`: the times that are shown, {min, max}.
  draw(samples, started, range) {
    this.#range = range;
    if (this.#spec.stacked) this.#hideAbsent(samples);
    const options = {
      file: rows(this.#spec, samples, started), dateWindow: [range.min, range.max],
      valueRange: [0, ceiling(this.#spec, samples)],
    };
    if (this.#dygraph === null) {
      this.#build(options);
    } else {
      this.#dygraph.updateOptions(options);
    }
  }

  // Another colour scheme needs other colours; draw() builds it anew.
  restyle() {
    this.#dygraph?.destroy();
    this.#dygraph = null;
  }

  // Puts the cursor at a time, and dots at the values of the sample at an index. Null and -1: nowhere.
  point(time, at) {
    const {min, max} = this.#range;
    this.#cursor.hidden = time === null;
    this.#cursor.style.left = `${(time - min) / (max - min) * 100}%`;
    this.#dygraph.clearSelection();
    if (at >= 0) this.#dygraph.setSelection(at);
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
    if (this.#dygraph !== null && width > 0) this.#dygraph.resize(width, HEIGHT);
  }

  #place({x, y, w, h}) {
    Object.assign(this.#area.style, {left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px`});
  }

  #build({file, ...options}) {
    this.#dygraph = new Dygraph(this.#canvas, file, {
      ...chartOptions(this.#spec), ...options, width: this.#plot.clientWidth || 300, height: HEIGHT,
      highlightCallback: (_, x, points, row) => this.#onHover(this.#dygraph.getValue(row, 0)),
      unhighlightCallback: () => this.#onHover(null),
      drawCallback: (dygraph) => this.#place(dygraph.getArea()),
    });
  }
}

function chartOptions(spec) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  return {
    labels: ['time', ...spec.series.map(({label}) => label)],
    colors: spec.series.map((series) => color(series.color)),
    series: Object.fromEntries(spec.series.map((series) => [series.label, {
      strokePattern: series.dash ?? null, fillGraph: Boolean(spec.stacked || series.fill)}])),
    // With an alpha of 0.15 lines and grid stay visible through the area.
    stackedGraph: Boolean(spec.stacked), stepPlot: Boolean(spec.stacked),
    fillAlpha: spec.stacked ? 1 : 0.15, strokeWidth: spec.stacked ? 0 : 1.75,
    highlightCircleSize: 2.5, interactionModel: {}, rightGap: 18,
    axisLineColor: 'transparent', gridLineColor: color('--grid'), gridLineWidth: 1,
    axisLabelFontSize: 11, axisTickSize: 4,
    axes: {
      x: {axisLabelWidth: 60, ticker: timeTicks},
      y: {axisLabelWidth: 38, pixelsPerLabel: 28, axisLabelFormatter: tick,
          ...(spec.ticks && {ticker: () => spec.ticks})},
    },
  };
}

// The times that an axis of so many pixels names: {v, label} of each.
function timeTicks(min, max, pixels) {
  const step = STEPS.find((each) => (max - min) / each * LABEL_PIXELS <= pixels) ?? STEPS.at(-1);
  const ticks = [];
  for (let v = Math.ceil(min / step) * step; v <= max; v += step) {
    ticks.push({v, label: format.clock(v).slice(0, step < 60 ? 8 : 5)});
  }
  return ticks;
}
