# SPDX-License-Identifier: Apache-2.0
"""Reads C++ sources just well enough to judge their structure.

This is no parser. It relies on the code being formatted by clang-format and on the habits of this
repository (no macros that open or close a scope), and it is tested on its own fixtures.
"""

import re
from typing import NamedTuple

# Comments, raw strings, strings and characters, in the order in which they may start. A quote
# inside a number, as in 1'000, starts nothing.
_OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)
_DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)
_CLASS = re.compile(r'^[ \t]*(?:class|struct) ([\w:]+)(?: final)?(?:\s*:(?!:)([^{};]*))?\s*\{',
                    re.MULTILINE)


class Function(NamedTuple):
    line: int
    length: int
    head: str


def line_of(text, position):
    return text.count('\n', 0, position) + 1


def _blank(text):
    return re.sub(r'[^\n]', ' ', text)


def code_only(text):
    """Blanks comments, the contents of literals and preprocessor lines; positions stay valid."""
    def blank(match):
        token = match.group(0)
        if token.startswith('/'):
            return _blank(token)
        return token[0] + _blank(token[1:-1]) + token[-1]

    text = _OPAQUE.sub(blank, text)
    return _DIRECTIVE.sub(lambda match: _blank(match.group(0)), text)


def bases(text):
    """Lists the name of each base of each class, without namespace and template arguments."""
    found = []
    for match in _CLASS.finditer(code_only(text)):
        listed = re.sub(r'<[^<>]*>', '', match.group(2) or '')
        found += [base.split()[-1].split('::')[-1] for base in listed.split(',') if base.strip()]
    return found


def abstract_classes(text):
    """Yields (line, name, comment) of each class that has a pure virtual function; the comment is
    the one right before the class."""
    code = code_only(text)
    for match in _CLASS.finditer(code):
        depth, end = 1, match.end()
        while depth and end < len(code):
            depth += {'{': 1, '}': -1}.get(code[end], 0)
            end += 1
        if re.search(r'\bvirtual\b[^;{}]*= 0;', code[match.end():end]):
            above = re.search(r'(?:^[ \t]*//[^\n]*\n)*\Z', text[:match.start()], re.MULTILINE)
            comment = re.sub(r'\s*\n\s*// ?', ' ', '\n' + above.group(0)).strip()
            yield line_of(code, match.start()), match.group(1), comment


def comments(text):
    """Yields (line, text) of every comment; lines of comments that follow each other are one."""
    first, words = 0, []
    for number, line in enumerate(text.split('\n') + [''], start=1):
        match = re.match(r'(.*?(?:^|[\s;,{}]))//+<? ?(.*)', line)
        if words and (match is None or match.group(1).strip()):
            yield first, ' '.join(words)
            words = []
        if match is not None:
            first = first if words else number
            words.append(match.group(2))


def includes(text):
    """Yields (line, path) of every #include."""
    for match in _INCLUDE.finditer(text):
        yield line_of(text, match.start()), match.group(1)


def functions(text):
    """Lists the functions defined at namespace or class level; lambdas and local classes count
    for the function around them."""
    return _Scopes(code_only(text)).functions()


class _Scopes:
    """Walks the braces of blanked code. `start` is where the current statement begins."""

    _LABEL = re.compile(r'^\s*(?:public|protected|private)\s*$')
    _SCOPE = re.compile(
        r'^(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|class|struct|union|enum|extern)\b',
        re.DOTALL)
    _MEMBER_INITIALISER = re.compile(r'\)[^;]*(?<!:):(?!:)[^;]*[\w>]\s*$', re.DOTALL)

    def __init__(self, code):
        self.code = code
        self.found = []

    def functions(self):
        position, start = 0, 0
        while position < len(self.code):
            char = self.code[position]
            if char == '(':
                position = self._matching(position)
            elif char in ';}':
                start = position + 1
            elif char == ':' and self._LABEL.match(self.code[start:position]):
                start = position + 1
            elif char == '{':
                position, start = self._open(position, start)
                continue
            position += 1
        return self.found

    def _open(self, brace, start):
        """Decides what a brace opens; returns where to go on and where the statement begins."""
        head = self.code[start:brace]
        stripped = head.strip()
        if self._SCOPE.match(stripped) and not stripped.endswith(')'):
            return brace + 1, brace + 1
        end = self._matching(brace)
        if self._MEMBER_INITIALISER.search(stripped):
            return end + 1, start
        # A statement with an initialiser is a variable.
        if ')' not in stripped or '=' in self._plain(stripped):
            return end + 1, start
        begin = start + len(head) - len(head.lstrip())
        line = line_of(self.code, begin)
        length = line_of(self.code, end) - line + 1
        self.found.append(Function(line, length, ' '.join(stripped.split())))
        return end + 1, end + 1

    @staticmethod
    def _plain(head):
        """Drops what may hold an equals sign without being an initialiser: names of operators,
        and what stands in parentheses or angle brackets."""
        head = re.sub(r'operator\s*[^\s\w(]+', '', head)
        while True:
            shorter = re.sub(r'\([^()]*\)|<[^<>]*>', '', head)
            if shorter == head:
                return head
            head = shorter

    def _matching(self, position):
        """Returns the position of the bracket that closes the one at `position`."""
        opening = self.code[position]
        closing = {'{': '}', '(': ')'}[opening]
        depth = 0
        for match in re.compile('[' + re.escape(opening + closing) + ']').finditer(
                self.code, position):
            depth += 1 if match.group(0) == opening else -1
            if depth == 0:
                return match.start()
        return len(self.code) - 1
