# SPDX-License-Identifier: Apache-2.0
"""What the command line's documents, the systemd unit, compose.yaml and the Debian package are."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS
try:
    import yaml
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ['LEVEE_BUILD'])
LEVEE = BUILD / 'levee'
DOCS = BUILD / 'cli-docs'
UNIT = ROOT / 'deploy/systemd/levee.service'
COMPOSE = ROOT / 'deploy/compose.yaml'
COMMANDS = [[], ['advise'], ['capture'], ['check'], ['demo'], ['doctor'], ['drain'], ['explain'],
            ['fleet'], ['help'], ['import'], ['import', 'envoy'], ['import', 'gateway-api'],
            ['import', 'grpc-service-config'], ['import', 'istio'], ['import', 'linkerd'],
            ['inject'], ['page'], ['probe'], ['replay'], ['run'], ['simulate'], ['sleep'],
            ['snapshot'], ['top'], ['version']]


def needs(command):
    return unittest.skipUnless(shutil.which(command),
                               f'{command} is not installed; make deps installs it')


def output(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=WATCHDOG_SECONDS, **more)
    if done.returncode != 0:
        raise AssertionError(f'{command}: {done.stdout}{done.stderr}')
    return done.stdout


class ManPages(unittest.TestCase):

    def page(self, command):
        file = DOCS / 'man' / ('-'.join(['levee', *command]) + '.1.gz')
        return gzip.decompress(file.read_bytes()).decode()

    def test_there_is_one_for_each_command(self):
        self.assertEqual(len(list((DOCS / 'man').iterdir())), len(COMMANDS))
        for command in COMMANDS:
            self.assertIn(f'.TH {"-".join(["levee", *command]).upper()} 1', self.page(command))

    def test_the_first_has_files_signals_and_examples(self):
        for title in ('FILES', 'ENVIRONMENT', 'SIGNALS', 'EXAMPLES'):
            self.assertIn(f'\n.SH {title}\n', self.page([]))

    def config_page(self):
        return gzip.decompress((DOCS / 'man5/levee.yaml.5.gz').read_bytes()).decode()

    def test_the_one_of_the_policy_has_every_field_of_the_schema(self):
        page = self.config_page()
        schema = json.loads((ROOT / 'config/levee.schema.json').read_text())
        self.assertTrue(page.startswith('.TH LEVEE.YAML 5 '))
        for name, mapping in [('The file', schema), *schema['definitions'].items()]:
            part = page.split(f'\n.SH {name.upper()}\n')[1].split('\n.SH ')[0]
            self.assertEqual(re.findall(r'^\.TP\n\\fB(.*)\\fR$', part, re.MULTILINE),
                             list(mapping['properties']), name)

    @needs('groff')
    def test_the_one_of_the_policy_reads_as_it_should(self):
        text = output('groff', '-man', '-Tascii', '-P-cbou', input=self.config_page())
        text = ' '.join(text.split())
        self.assertIn('LIMITS replay_bytes Memory for request bodies', text)
        self.assertRegex(text, r'max_attempts Includes the first attempt\..* '
                         r'It is a whole number from 1 up to 100\. Default: 3\.')

    def test_each_has_every_option_that_help_shows(self):
        for command in COMMANDS:
            options = re.findall(r'^  (?:-\w,)?(--[a-z-]+)',
                                 output(LEVEE, *command, '--help'), re.MULTILINE)
            self.assertIn('--help', options)
            for option in options:
                self.assertIn('\\fB' + option.replace('-', '\\-') + '\\fR', self.page(command))

    @needs('groff')
    def test_troff_has_no_complaint(self):
        for page in [*map(self.page, COMMANDS), self.config_page()]:
            done = subprocess.run(['groff', '-man', '-ww', '-Tascii'], input=page,
                                  capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
            self.assertEqual((done.returncode, done.stderr), (0, ''), page[:40])

    @needs('groff')
    def test_a_page_reads_as_it_should(self):
        text = output('groff', '-man', '-Tascii', '-P-cbou', input=self.page(['run']))
        self.assertIn('levee-run - run the sidecar', text)
        self.assertRegex(text, r'--workers INT\n +threads that carry calls, in \[1 - 64\]. '
                               r'Default: 1.')


class Completions(unittest.TestCase):

    def in_bash(self, *words):
        script = (f'source {DOCS}/completions/bash/levee; COMP_WORDS=("$@"); '
                  'COMP_CWORD=$(($# - 1)); _levee; printf "%s\\n" "${COMPREPLY[@]}"')
        return output('bash', '-c', script, 'bash', *words, cwd=ROOT).split()

    def in_fish(self, line):
        script = f'source {DOCS}/completions/fish/levee.fish; complete -C $argv'
        with tempfile.TemporaryDirectory() as home:
            lines = output('fish', '--no-config', '-c', script, line, cwd=ROOT,
                           env={**os.environ, 'HOME': home})
        return [each.split('\t')[0] for each in lines.splitlines()]

    def test_bash_completes_commands(self):
        self.assertEqual(self.in_bash('levee', 'r'), ['run', 'replay'])
        self.assertEqual(self.in_bash('levee', 'import', 'e'), ['envoy'])
        self.assertEqual(self.in_bash('levee', 'help', 'r'), ['run', 'replay'])

    def test_bash_completes_options_of_the_command(self):
        self.assertEqual(self.in_bash('levee', 'run', '--w'), ['--workers'])
        self.assertEqual(self.in_bash('levee', 'check', '--w'), [])

    def test_bash_completes_values(self):
        self.assertEqual(self.in_bash('levee', 'check', '-o', 'j'), ['json'])
        self.assertEqual(self.in_bash('levee', 'run', '--log-level', 'w'), ['warning'])
        self.assertEqual(self.in_bash('levee', 'run', '--log-format', 'j'), ['json'])

    def test_bash_completes_files(self):
        self.assertEqual(self.in_bash('levee', 'check', 'config/levee.y'), ['config/levee.yaml'])
        self.assertEqual(self.in_bash('levee', 'run', '--config', 'LIC'), ['LICENSE'])

    @needs('fish')
    def test_fish_completes_commands_options_values_and_files(self):
        self.assertEqual(self.in_fish('levee imp'), ['import'])
        self.assertEqual(self.in_fish('levee import en'), ['envoy'])
        self.assertEqual(self.in_fish('levee help imp'), ['import'])
        self.assertEqual(self.in_fish('levee run --wor'), ['--workers'])
        self.assertEqual(self.in_fish('levee check -o j'), ['json'])
        self.assertEqual(self.in_fish('levee run --config LIC'), ['LICENSE'])

    @needs('zsh')
    def test_zsh_completes_commands_options_and_values(self):
        def complete(line):
            return output('zsh', '-f', ROOT / 'tests/package/complete.zsh',
                          DOCS / 'completions/zsh', line, cwd=ROOT)

        self.assertIn('import', complete('levee imp'))
        self.assertIn('grpc-service-config', complete('levee import g'))
        self.assertIn('--workers', complete('levee run --wor'))
        self.assertIn('json', complete('levee check -o j'))


class Unit(unittest.TestCase):

    @needs('systemd-analyze')
    def test_systemd_knows_every_line(self):
        with tempfile.TemporaryDirectory() as folder:
            # The test does not depend on the programs of this machine.
            unit = pathlib.Path(folder) / 'levee.service'
            unit.write_text(UNIT.read_text().replace('/usr/bin/levee', str(LEVEE)))
            done = subprocess.run(['systemd-analyze', 'verify', '--man=no', unit],
                                  capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
        about = [line for line in done.stderr.splitlines() if 'levee' in line]
        self.assertEqual((done.returncode, about), (0, []), done.stderr)

    @needs('systemd-analyze')
    def test_it_is_locked_down(self):
        table = output('systemd-analyze', 'security', '--offline=true', '--no-pager', UNIT)
        level = re.search(r'Overall exposure level for levee.service: ([\d.]+)', table)
        self.assertLessEqual(float(level.group(1)), 1.5, table)

    def test_a_faulty_policy_is_a_failed_start_that_is_tried_again_for_ever(self):
        text = UNIT.read_text()
        lines = text.splitlines()
        # What the unit checks before it starts is what it starts with.
        self.assertIn('ExecStartPre=/usr/bin/levee check /etc/levee/levee.yaml', lines)
        self.assertIn('ExecStart=/usr/bin/levee run --config /etc/levee/levee.yaml', lines)
        self.assertIn('Restart=on-failure', lines)
        # In [Unit]; systemd ignores it elsewhere.
        self.assertIn('StartLimitIntervalSec=0', text.split('[Service]')[0].splitlines())

    def test_it_waits_for_the_drain(self):
        stop = int(re.search(r'^TimeoutStopSec=(\d+)$', UNIT.read_text(), re.MULTILINE).group(1))
        drain = re.search(r'^drain:\n  timeout: (\d+)s',
                          (ROOT / 'config/levee.yaml').read_text(), re.MULTILINE)
        self.assertGreater(stop, int(drain.group(1)) + 1)


class Compose(unittest.TestCase):

    def setUp(self):
        self.services = yaml.safe_load(COMPOSE.read_text())['services']

    def test_it_names_files_that_exist(self):
        named = [volume.split(':')[0] for service in self.services.values()
                 for volume in service.get('volumes', [])]
        named += [service['build']['context'] for service in self.services.values()
                  if 'build' in service]
        self.assertEqual(len(named), 6)
        for path in named:
            self.assertTrue((COMPOSE.parent / path).exists(), path)
        self.assertTrue((COMPOSE.parent / self.services['levee']['build']['context'] /
                         'Dockerfile').exists())

    def test_its_policy_is_without_fault(self):
        text = output(LEVEE, 'check', ROOT / 'deploy/compose/levee/levee.yaml')
        # The page is open to the other containers; nothing else is warned of.
        self.assertEqual(re.findall(r'LV\d+', text), ['LV913'], text)

    def test_with_redis_it_is_as_well(self):
        more = yaml.safe_load((ROOT / 'deploy/compose-redis.yaml').read_text())
        for service in more['services'].values():
            self.assertLessEqual(set(service.get('depends_on', [])),
                                 set(self.services) | set(more['services']))
            for port in service.get('ports', []):
                self.assertTrue(port.startswith('127.0.0.1:'), port)
        policy, = (volume.split(':')[0] for volume in more['services']['levee']['volumes'])
        text = output(LEVEE, 'check', COMPOSE.parent / policy / 'levee.yaml')
        # As without Redis.
        self.assertEqual(re.findall(r'LV\d+', text), ['LV913'], text)
        redis = more['services']['redis']
        self.assertIn('redis:6379', (COMPOSE.parent / policy / 'levee.yaml').read_text())
        self.assertIn('--appendonly yes', ' '.join(redis['command']))
        self.assertEqual([volume.split(':')[0] for volume in redis['volumes']],
                         list(more['volumes']))

    def test_what_it_depends_on_is_there(self):
        for service in self.services.values():
            self.assertLessEqual(set(service.get('depends_on', [])), set(self.services))

    def test_its_caller_stays_and_calls_what_the_policy_listens_on(self):
        loop, = self.services['caller']['command']
        self.assertTrue(loop.startswith('while '), loop)
        self.assertIn('http://levee:9460/grpc.health.v1.Health/Check', loop)
        self.assertEqual(subprocess.run(['sh', '-n', '-c', loop], timeout=WATCHDOG_SECONDS).returncode, 0)

    def test_grafana_is_optional_and_has_data_source_and_dashboard(self):
        grafana = self.services['grafana']
        self.assertEqual(grafana['profiles'], ['grafana'])
        folder = ROOT / 'deploy/compose/grafana'
        source, = yaml.safe_load((folder / 'datasources/prometheus.yaml').read_text())['datasources']
        self.assertEqual((source['type'], source['url']), ('prometheus', 'http://prometheus:9090'))
        self.assertIn('prometheus', self.services)
        provider, = yaml.safe_load((folder / 'dashboards/levee.yaml').read_text())['providers']
        mounted = [volume.split(':')[1] for volume in grafana['volumes']]
        self.assertIn(provider['options']['path'] + '/levee.json', mounted)

    def test_it_publishes_on_loopback_only(self):
        for service in self.services.values():
            for port in service.get('ports', []):
                self.assertTrue(port.startswith('127.0.0.1:'), port)


@needs('dpkg-shlibdeps')
class DebianPackage(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        subprocess.run(['cpack', '--config', BUILD / 'CPackConfig.cmake', '-B', cls.folder.name],
                       check=True, capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
        cls.file = next(pathlib.Path(cls.folder.name).glob('levee_*.deb'))
        cls.root = pathlib.Path(cls.folder.name) / 'root'
        output('dpkg-deb', '--extract', cls.file, cls.root)

    def field(self, name):
        return output('dpkg-deb', '--field', self.file, name).strip()

    def test_it_depends_on_what_the_program_loads(self):
        depends = self.field('Depends')
        for package in ('libc6 (>=', 'libstdc++6 (>='):
            self.assertIn(package, depends)
        self.assertNotIn('grpc', depends)

    def test_the_policy_survives_an_upgrade(self):
        with tempfile.TemporaryDirectory() as control:
            output('dpkg-deb', '--control', self.file, control)
            self.assertEqual((pathlib.Path(control) / 'conffiles').read_text(),
                             '/etc/levee/levee.yaml\n')

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which('unshare'),
                         'it needs root and unshare, for a file system of its own')
    def test_a_purge_leaves_neither_enablement_nor_logs(self):
        with tempfile.TemporaryDirectory() as control:
            output('dpkg-deb', '--control', self.file, control)
            script = """
                set -e
                mount -t tmpfs none /etc/systemd/system
                mount -t tmpfs none /var/log
                mkdir -p /etc/systemd/system/multi-user.target.wants /var/log/private/levee
                ln -s private/levee /var/log/levee
                touch /var/log/private/levee/access.log /var/log/other
                for unit in levee other; do
                  ln -s /lib/systemd/system/$unit.service \
                        /etc/systemd/system/multi-user.target.wants/
                done
                sh "$1" remove
                ls /etc/systemd/system/multi-user.target.wants /var/log
                echo purged:
                sh "$1" purge
                ls /etc/systemd/system/multi-user.target.wants /var/log /var/log/private
                """
            done = subprocess.run(['unshare', '--mount', 'sh', '-c', script, 'sh',
                                   pathlib.Path(control) / 'postrm'],
                                  capture_output=True, text=True, timeout=WATCHDOG_SECONDS,
                                  env={**os.environ, 'DPKG_MAINTSCRIPT_PACKAGE': 'levee'})
        if 'unshare failed' in done.stderr or 'mount:' in done.stderr:
            self.skipTest(f'no file system of its own: {done.stderr}')
        self.assertEqual(done.returncode, 0, done.stderr)
        removed, purged = done.stdout.split('purged:')
        self.assertEqual(removed.split().count('levee.service'), 1, removed)
        self.assertEqual(removed.split().count('levee'), 1, removed)
        self.assertNotIn('levee', purged)
        self.assertEqual((purged.count('other.service'), purged.split().count('other')), (1, 1),
                         purged)

    def test_the_program_runs_and_takes_the_policy(self):
        output(self.root / 'usr/bin/levee', 'check', '--strict', self.root / 'etc/levee/levee.yaml')

    def test_it_brings_documents_rules_and_dashboard(self):
        for file, source in (('doc/levee/README.md', 'README.md'),
                             ('doc/levee/docs/logs.md', 'docs/logs.md'),
                             ('doc/levee/docs/runbooks/limit-hit.md', 'docs/runbooks/limit-hit.md'),
                             ('levee/rules.yaml', 'deploy/mixin/rules.yaml'),
                             ('levee/alerts.yaml', 'deploy/mixin/alerts.yaml'),
                             ('levee/old-names.yaml', 'deploy/mixin/old-names.yaml'),
                             ('levee/dashboard.json', 'deploy/mixin/dashboard.json')):
            self.assertEqual((self.root / 'usr/share' / file).read_bytes(),
                             (ROOT / source).read_bytes(), file)

    def test_it_brings_unit_pages_and_completions(self):
        for file in ('usr/lib/systemd/system/levee.service', 'usr/share/man/man1/levee.1.gz',
                     'usr/share/man/man1/levee-run.1.gz',
                     'usr/share/man/man5/levee.yaml.5.gz',
                     'usr/share/bash-completion/completions/levee',
                     'usr/share/zsh/vendor-completions/_levee',
                     'usr/share/fish/vendor_completions.d/levee.fish',
                     'usr/share/doc/levee/copyright', 'usr/share/doc/levee/examples/hedging.yaml'):
            self.assertTrue((self.root / file).is_file(), file)

    def test_its_copyright_file_credits_what_draws_the_page(self):
        text = (self.root / 'usr/share/doc/levee/copyright').read_text()
        self.assertRegex(text, r'(?s)Files: dygraph\.min\.js\nCopyright: .*Dan Vanderkam.*'
                               r'License: Expat.*Permission is hereby granted')

    @unittest.skipUnless(shutil.which('lintian'),
                         'lintian is not installed; make package installs it')
    def test_lintian_finds_no_error(self):
        done = subprocess.run(['lintian', '--allow-root', '--fail-on', 'error', self.file],
                              capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == '__main__':
    unittest.main()
