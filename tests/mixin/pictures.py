# SPDX-License-Identifier: Apache-2.0
"""Draws what Prometheus has of the dashboard's panels, for docs/mixin.md. It is not Grafana that
draws them, so colours and axes are not those that one sees there."""

import pathlib
from datetime import datetime, timezone

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

from mixin import expressions, read_dashboard

STEP_SECONDS = 1
# The pictures, by the beginnings of the titles of their panels.
PICTURES = {
    'load': ('How much is the load amplified', 'How many calls and retries',
             'What do callers see', 'How much of the retry budget'),
    'retries': ('What makes retries necessary', 'Why was it not retried',
                'How many attempts do calls take', 'Which share of the calls'),
    'time': ('How long do retries wait', 'How slow is it', 'Does the application retry',
             'Who says "overloaded'),
}
# Of the upstreams of the storm those that tell most; all ten lines would be a tangle.
SHOWN = ('cart', 'eager', 'masked', 'stock')
# By a part of the legend.
STYLES = {'bound': '--', 'attempts at': '--', 'sidecars': '--', 'half': ':'}


def _legend(target, labels):
    text = target.get('legendFormat', '')
    for name, value in labels.items():
        text = text.replace('{{' + name + '}}', value)
    return text


def _lines(prometheus, panel, start, end):
    """(legend, times, values) of each series that is to be seen."""
    for target, query in zip(panel['targets'], expressions(panel)):
        for labels, points in prometheus.ask_range(query, start, end, STEP_SECONDS):
            if labels.get('upstream', SHOWN[0]) in SHOWN and any(value for _, value in points):
                yield (_legend(target, labels), [at - start for at, _ in points],
                       [value for _, value in points])


def _draw_heatmap(axes, prometheus, panel, start, end):
    """Calls by their number of attempts: the buckets are cumulative, so each less the one below."""
    query, = expressions(panel)
    buckets = sorted(((float(labels['le']), dict(points)) for labels, points
                      in prometheus.ask_range(query, start, end, STEP_SECONDS)))
    times = sorted(buckets[-1][1])
    below, rows = dict.fromkeys(times, 0), []
    for _, counts in buckets:
        rows.append([max(0, counts.get(at, 0) - below[at]) for at in times])
        below = {at: counts.get(at, 0) for at in times}
    axes.imshow(rows, aspect='auto', origin='lower', cmap='Oranges', interpolation='nearest',
                norm=matplotlib.colors.PowerNorm(0.4),
                extent=(0, end - start, -0.5, len(rows) - 0.5))
    names = ['more' if bound == float('inf') else f'{bound:g}' for bound, _ in buckets]
    axes.set_yticks(range(len(names)), names)


def _draw_lines(axes, prometheus, panel, start, end):
    lines = list(_lines(prometheus, panel, start, end))
    stacked = panel['fieldConfig']['defaults']['custom']['stacking']['mode'] == 'normal'
    if stacked:
        times = sorted({at for _, points, _ in lines for at in points})
        by_time = [dict(zip(points, values)) for _, points, values in lines]
        axes.stackplot(times, [[series.get(at, 0) for at in times] for series in by_time],
                       labels=[name for name, _, _ in lines], alpha=0.7)
    else:
        colours = {}
        for name, times, values in lines:
            # Lines of one upstream that belong together differ in their style.
            owner = next((upstream for upstream in SHOWN if name.endswith(upstream)
                          or f' {upstream}, ' in name), name)
            colour = colours.setdefault(owner, f'C{len(colours)}')
            style = next((style for start, style in STYLES.items() if start in name), '-')
            axes.plot(times, values, label=name, color=colour, lw=1.3, ls=style)
    defaults = panel['fieldConfig']['defaults']
    axes.set_ylim(bottom=0, top=1.02 if defaults.get('max') == 1 else None)
    if defaults['unit'] == 'percentunit':
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_ylabel({'reqps': 'per second', 's': 'seconds'}.get(defaults['unit'], ''), fontsize=8)
    axes.legend(fontsize=7, ncols=3, loc='upper center', bbox_to_anchor=(0.5, -0.16), frameon=False)
    axes.grid(alpha=0.3)


def draw(prometheus, start, end, folder):
    """Writes a PNG for each of PICTURES. `start`, `end`: in Unix time."""
    matplotlib.use('Agg')
    panels = read_dashboard()['panels']
    day = datetime.fromtimestamp(end, timezone.utc).date()
    for name, titles in PICTURES.items():
        figure, places = plt.subplots(2, 2, figsize=(11, 7.4), layout='constrained')
        for axes, title in zip(places.flat, titles):
            panel, = (panel for panel in panels if panel['title'].startswith(title))
            drawing = _draw_heatmap if panel['type'] == 'heatmap' else _draw_lines
            drawing(axes, prometheus, panel, start, end)
            axes.set_title(panel['title'], fontsize=10, loc='left')
            axes.set_xlim(0, end - start)
            axes.tick_params(labelsize=8)
        figure.suptitle(f"Drawn by Levee's tests from Prometheus' answers, {day}; not by Grafana. "
                        'Time in seconds.',
                        fontsize=8, color='grey')
        figure.savefig(pathlib.Path(folder) / f'{name}.png', dpi=90)
        plt.close(figure)
