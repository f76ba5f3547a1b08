# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus, and what it answers."""

import json
import os
import pathlib
import re
import shutil
import sys
import urllib.parse
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'interop'))
from programs import WATCHDOG_SECONDS, Program, until

MISSING = next((f'{program} is not installed (Debian package prometheus)'
                for program in ('prometheus', 'promtool') if not shutil.which(program)), '')


class Prometheus(Program):
    """Scrapes sidecars and evaluates rules once a second. `targets`: the labels of each address;
    `rules`: texts of rule files; `folder`: an empty one that is its own."""

    def __init__(self, targets, rules, folder):
        files = []
        for i, text in enumerate(rules):
            path = pathlib.Path(folder) / f'rules{i}.yaml'
            path.write_text(text)
            files.append(str(path))
        config = pathlib.Path(folder) / 'prometheus.yaml'
        config.write_text(json.dumps({  # JSON is YAML.
            'global': {'scrape_interval': '1s', 'scrape_timeout': '1s',
                       'evaluation_interval': '1s'},
            'rule_files': files,
            'scrape_configs': [{'job_name': 'levee', 'static_configs': [
                {'targets': [address], 'labels': labels} for address, labels in targets.items()]}],
        }))
        super().__init__(['prometheus', f'--config.file={config}',
                          f'--storage.tsdb.path={folder}/data',
                          '--web.listen-address=127.0.0.1:0'])
        self._address = self._listening()

    def _listening(self):
        """It takes a port of the system's choice and logs it on standard error; requests that come
        before it is ready it turns away."""
        found = until(lambda: re.search(
            r'msg="Listening on" address=(\S+).*msg="Server is ready', self.log(), re.DOTALL))
        if not found:
            raise AssertionError(f'Prometheus does not get ready:\n{self.log()}')
        return found[1]

    def log(self):
        # Leaves the position alone at which Prometheus writes.
        return os.pread(self._errors.fileno(), 1 << 20, 0).decode()

    @property
    def url(self):
        return f'http://{self._address}'

    def _get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f'{self.url}/api/v1/{path}?{query}',
                                    timeout=WATCHDOG_SECONDS) as answer:
            return json.load(answer)['data']

    def ask(self, query):
        """Returns (labels, value) of each series that a query has now."""
        return [(series['metric'], float(series['value'][1]))
                for series in self._get('query', query=query)['result']]

    def ask_range(self, query, start, end, step):
        """Returns (labels, [(time, value)]) of each series from `start` to `end`, in Unix time."""
        answer = self._get('query_range', query=query, start=start, end=end, step=step)
        return [(series['metric'], [(float(at), float(value)) for at, value in series['values']])
                for series in answer['result']]

    def alerts(self, state='firing'):
        """Returns the alerts that are in this state."""
        return [alert for alert in self._get('alerts')['alerts'] if alert['state'] == state]
