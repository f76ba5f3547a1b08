# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/storm.svg: the charts that `levee simulate` draws of the demo's storm.

Run it with LEVEE_BINARY to write the picture again; documents_test compares it."""

import pathlib
import re
import subprocess
import tempfile

import documents

PATH = documents.ROOT / 'docs/images/storm.svg'
SCENARIO = documents.ROOT / 'config/scenarios/demo-storm.yaml'
TITLES = {'envoy-istio': 'retries as Istio configures Envoy', 'this': 'retries by Levee'}
# One set of colours that light and dark pages can show.
HEAD = '''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 730 205" role="img">
<style>
rect.ground { fill: #ffffff; }
text { fill: #15202b; font: 11px sans-serif; }
text.title { font-weight: bold; font-size: 13px; }
polyline { fill: none; stroke-width: 1.5; }
.axis { stroke: #66737f; }
.grid { stroke: #e6eaee; }
.requests { stroke: #0b62a8; stroke-dasharray: 5 3; }
.attempts { stroke: #c2500c; }
.answers { stroke: #00786b; stroke-width: 2.5; }
.trouble { fill: #66737f; opacity: 0.2; }
</style>
<rect class="ground" width="730" height="205"/>
'''
CHART = re.compile(r'<svg [^>]*aria-label="requests, attempts[^"]* under ([^"]*)">\n(.*?)</svg>',
                   re.DOTALL)


def drawn():
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / 'storm.html'
        subprocess.run([documents.BINARY, 'simulate', SCENARIO, '--html', page], check=True,
                       stdout=subprocess.DEVNULL, timeout=documents.WATCHDOG_SECONDS)
        charts = dict(CHART.findall(page.read_text()))
    parts = [HEAD]
    for x, (rule, title) in zip((0, 365), TITLES.items()):
        parts.append(f'<g transform="translate({x} 25)">\n'
                     f'<text class="title" x="44" y="-6">{title}</text>\n{charts[rule]}</g>\n')
    return ''.join([*parts, '</svg>\n'])


if __name__ == '__main__':
    PATH.write_text(drawn())
