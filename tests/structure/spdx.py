#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names the licence at the beginning of every source file.

    spdx.py         prints the files that lack the line, and fails if there are any
    spdx.py --add   adds it
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = 'SPDX-License-Identifier: Apache-2.0'

_COMMENTS = {
    **dict.fromkeys(['cc', 'go', 'h', 'java', 'js', 'proto', 'rs', 'ts'], f'// {TEXT}'),
    **dict.fromkeys(['cmake', 'py', 'toml', 'yaml', 'yml', 'zsh'], f'# {TEXT}'),
    'css': f'/* {TEXT} */',
    'html': f'<!-- {TEXT} -->',
}
_NAMES = ('.clang-format', '.clang-tidy', 'CMakeLists.txt', 'Dockerfile', 'Makefile')
# A tool's output, byte for byte; and inputs of fuzz targets.
_DERIVED = ('tests/fuzz/corpus/', 'tests/kubernetes/golden/')
# Lines that their readers look for only at the very beginning.
_FIRST = ('#!', '# yaml-language-server:', '<!doctype ')


def line_for(path, text):
    """The line that a file has to have, or None of a file that needs none."""
    name = path.rsplit('/', 1)[-1]
    if path.startswith(_DERIVED):
        return None
    if name in _NAMES or text.startswith('#!'):
        return f'# {TEXT}'
    return _COMMENTS.get(name.rsplit('.', 1)[-1]) if '.' in name else None


def _place(lines):
    return 1 if lines and lines[0].startswith(_FIRST) else 0


def is_missing(path, text):
    line = line_for(path, text)
    lines = text.split('\n')
    return line is not None and line not in lines[_place(lines):][:1]


def added(path, text):
    lines = text.split('\n')
    lines.insert(_place(lines), line_for(path, text))
    return '\n'.join(lines)


def without(text):
    """The text of a C++ source behind its line."""
    return text.removeprefix(f'// {TEXT}\n')


def sources():
    """{path: text} of the files that git knows, or would know after `git add`."""
    names = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT,
        capture_output=True, text=True, check=True).stdout.split('\0')
    texts = {}
    for name in names:
        try:
            texts[name] = (ROOT / name).read_text(encoding='utf-8')
        except (OSError, UnicodeDecodeError):  # a deleted file, a picture
            continue
    return texts


def main(words):
    missing = [(path, text) for path, text in sources().items() if is_missing(path, text)]
    for path, text in missing:
        if words == ['--add']:
            (ROOT / path).write_text(added(path, text), encoding='utf-8')
        else:
            print(path)
    return 0 if words == ['--add'] else int(bool(missing))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
