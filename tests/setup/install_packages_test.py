# SPDX-License-Identifier: Apache-2.0
"""deploy/install-packages against an apt-get that only writes down what it is asked for, in a system
of its own below a temporary folder."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALL = ROOT / 'deploy/install-packages'

# Enables a service and an init script as the packages of Debian do, and says what dpkg would be
# allowed at that time.
APT_GET = r'''#!/bin/bash
echo "$*" >>"$HERE/asked"
if [[ "$*" == *--assume-no* ]]; then
  echo '0 upgraded, 3 newly installed, 0 to remove and 0 not upgraded.'
  echo 'Need to get 12.3 MB of archives.'
  echo 'After this operation, 45.6 MB of additional disk space will be used.'
  exit 1
fi
[[ " $* " != *" update "* ]] || exit 0
cp -p "$DPKG_ROOT/usr/sbin/policy-rc.d" "$HERE/policy"
ln -s x "$DPKG_ROOT/etc/systemd/system/multi-user.target.wants/new.service"
ln -s x "$DPKG_ROOT/etc/rc2.d/S01new"
for n in 0 10 50 100; do echo "dlstatus:1:$n.5:Retrieving: file 1 of 2" >&3; done
for n in 0 60 100; do echo "pmstatus:libx:amd64:$n.0000:Unpacking libx" >&3; done
eval "$BEHAVE"
'''
RECORD = '''#!/bin/bash
echo "$(basename "$0") $*" >>"$HERE/undone"
'''


class InstallPackages(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        self.system = self.here / 'system'
        for path in ('usr/sbin', 'etc/systemd/system/multi-user.target.wants', 'etc/rc2.d'):
            (self.system / path).mkdir(parents=True)
        self.wanted = self.system / 'etc/systemd/system/multi-user.target.wants'
        (self.wanted / 'old.service').symlink_to('x')
        (self.here / 'bin').mkdir()
        self.program('apt-get', APT_GET)
        self.program('dpkg-query', '#!/bin/bash\necho "$INSTALLED"\n')
        self.program('update-rc.d', RECORD)
        self.program('sudo', '#!/bin/bash\nexec "$@"\n')
        self.program('sleep', '#!/bin/bash\nrm -f "$HERE/lock"\n')
        self.policy = self.system / 'usr/sbin/policy-rc.d'

    def program(self, name, text):
        file = self.here / 'bin' / name
        file.write_text(text)
        file.chmod(0o755)

    def install(self, *groups, behave='', installed='', path='/usr/bin:/bin', **more):
        environment = {'PATH': f'{self.here}/bin:{path}', 'HERE': str(self.here),
                       'DPKG_ROOT': str(self.system), 'BEHAVE': behave, 'INSTALLED': installed}
        done = subprocess.run([INSTALL, *groups], capture_output=True, text=True, timeout=WATCHDOG_SECONDS,
                              env=environment, **more)
        return done.returncode, done.stdout, done.stderr

    def check_nothing_new_is_enabled(self):
        self.assertEqual([link.name for link in self.wanted.iterdir()], ['old.service'])
        self.assertEqual(self.written('undone'), 'update-rc.d new disable\n')

    def written(self, name):
        file = self.here / name
        return file.read_text() if file.exists() else ''

    def test_what_is_there_is_not_asked_for_again(self):
        code, out, _ = self.install(
            'package', installed='installed dpkg-dev\ninstalled file\ninstalled lintian')
        self.assertEqual((code, out), (0, 'deps: all packages are installed for: package\n'))
        self.assertEqual(self.written('asked'), '')

    def test_only_what_is_missing_of_the_groups_is_installed(self):
        code, out, err = self.install('package', installed='installed dpkg-dev\ninstalled file')
        self.assertEqual((code, err), (0, ''))
        self.assertRegex(self.written('asked'), r'install --no-install-recommends lintian\n$')
        self.assertIn('deps: missing: lintian\n', out)

    def test_a_package_whose_command_is_there_is_not_installed(self):
        self.program('node', '')
        self.program('npm', '')
        self.assertEqual(self.install('interop-node')[0], 0)
        self.assertEqual(self.written('asked'), '')

    def test_it_says_how_much_comes_and_how_far_it_is(self):
        lines = self.install('package')[1].splitlines()
        self.assertEqual(lines[2:], [
            'deps: 3 packages with their dependencies', 'deps: to fetch: 12.3 MB',
            'deps: on disk: 45.6 MB', 'deps: fetched 0%', 'deps: fetched 10%', 'deps: fetched 50%',
            'deps: fetched 100%',
            'deps: installed 0%', 'deps: installed 60%', 'deps: installed 100%',
            'deps: installed 3 packages and what they depend on'])

    def test_no_service_starts_meanwhile_and_none_is_left_enabled(self):
        self.assertEqual(self.install('package')[0], 0)
        self.assertIn('exit 101', self.written('policy'))
        self.assertFalse(self.policy.exists())
        self.check_nothing_new_is_enabled()

    def test_a_failure_is_shown_and_undoes_the_same(self):
        code, out, err = self.install('package', behave='echo "E: no space left"; exit 100')
        self.assertEqual(code, 1)
        self.assertIn('E: no space left', out + err)
        self.assertIn(
            'installing packages failed, see above; what is missing: dpkg-dev file lintian', err)
        self.assertFalse(self.policy.exists())
        self.check_nothing_new_is_enabled()

    def test_an_interruption_undoes_the_same(self):
        code, _, err = self.install('package', behave='kill -INT $PPID; sleep 1')
        self.assertEqual(code, 130)
        self.assertIn('interrupted while installing packages', err)
        self.assertFalse(self.policy.exists())
        self.check_nothing_new_is_enabled()

    def test_without_sudo_the_cure_names_all_packages_of_the_target_at_once(self):
        (self.here / 'bin/sudo').unlink()
        for name in ('bash', 'dirname', 'mktemp', 'sort'):
            (self.here / 'bin' / name).symlink_to(shutil.which(name))
        self.here.chmod(0o755)
        user = {'user': 65534} if os.geteuid() == 0 else {}
        code, _, err = self.install('package', 'fuzz', path='', **user)
        self.assertEqual((code, err), (1, (
            'deps: as root, run: apt-get update && apt-get install --no-install-recommends '
            'clang dpkg-dev file libclang-rt-14-dev lintian llvm python3\n')))

    def test_a_policy_of_the_users_own_stays_as_it_is(self):
        self.policy.write_text('#!/bin/sh\nexit 104\n')
        self.assertEqual(self.install('package')[0], 0)
        self.assertEqual(self.policy.read_text(), '#!/bin/sh\nexit 104\n')

    def test_it_waits_for_another_apt_and_says_so(self):
        (self.here / 'lock').touch()
        code, out, _ = self.install('package', behave='''
            rm -f "$DPKG_ROOT"/etc/rc2.d/S01new "$DPKG_ROOT"/etc/systemd/system/*/new.service
            [[ ! -e $HERE/lock ]] || { echo "E: Could not get lock /var/lib/dpkg/lock"; exit 100; }''')
        self.assertEqual(code, 0)
        self.assertIn('deps: another program is installing packages; waiting for it to end\n', out)

    def test_an_interrupted_dpkg_has_its_cure_printed(self):
        code, _, err = self.install('package', behave='''
            echo "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'"; exit 100''')
        self.assertEqual(code, 1)
        self.assertRegex(err, r'deps:   (sudo )?dpkg --configure -a\n')


if __name__ == '__main__':
    unittest.main()
