# SPDX-License-Identifier: Apache-2.0
"""Builds each bug in a copy of the checkout and runs its tests; tests/mutation/run starts it."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from mutants import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOG = ROOT / "build" / "mutation.log"

# A test that hangs has found something as well.
TEST_SECONDS = 180


def checkout_files():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def copy_checkout(to):
    for name in checkout_files():
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)


class Copy:
    """A copy of the checkout with a build of its own."""

    def __init__(self, folder):
        self.folder = folder
        copy_checkout(folder)

    def _run(self, command, seconds=None):
        """Whether the command ends well; what it says goes to the log."""
        with LOG.open("ab") as log:
            try:
                return subprocess.run(command, cwd=self.folder, stdout=log, stderr=log,
                                      timeout=seconds).returncode == 0
            except subprocess.TimeoutExpired:
                return False

    def configure(self):
        return self._run(["cmake", "--preset", "release"])

    def build(self, tests):
        targets = sorted({target for target, _ in tests})
        return self._run(["cmake", "--build", "build", "--target", *targets])

    def passes(self, test):
        target, arguments = test
        return self._run([f"build/tests/{target}", *arguments], TEST_SECONDS)


def check_unbroken(copy, mutants):
    """A test that fails anyway would find every bug."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    if not copy.configure() or not copy.build(tests):
        sys.exit(f"the checkout does not build; see {LOG}")
    failing = [test for test in tests if not copy.passes(test)]
    if failing:
        sys.exit(f"these tests fail without any bug: {failing}; see {LOG}")


def find(copy, mutant):
    """The tests that notice."""
    path = copy.folder / mutant.file
    whole = path.read_text()
    if whole.count(mutant.old) != 1:
        sys.exit(f"{mutant.name}: what it replaces stands {whole.count(mutant.old)} times "
                 f"in {mutant.file}")
    path.write_text(whole.replace(mutant.old, mutant.new))
    try:
        if not copy.build(mutant.tests):
            sys.exit(f"{mutant.name} does not build; see {LOG}")
        return [test for test in mutant.tests if not copy.passes(test)]
    finally:
        path.write_text(whole)


def main(names):
    unknown = set(names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        sys.exit(f"no such bug: {', '.join(sorted(unknown))}")
    mutants = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    LOG.parent.mkdir(exist_ok=True)
    LOG.unlink(missing_ok=True)
    found = 0
    with tempfile.TemporaryDirectory(prefix="levee-mutation-") as folder:
        copy = Copy(pathlib.Path(folder))
        check_unbroken(copy, mutants)
        for mutant in mutants:
            tests = ", ".join(target for target, _ in find(copy, mutant))
            found += tests != ""
            print(f"{mutant.name:34} {'found by ' + tests if tests else 'NOT FOUND'}", flush=True)
    print(f"mutation: {found} of {len(mutants)} found ({100 * found // len(mutants)}%)")
    return 0 if found == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
