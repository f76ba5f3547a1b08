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


class Class(NamedTuple):
    line: int
    name: str
    comment: str  # the one right before the class, in one line
    functions: int  # declared; deleted and defaulted ones do not count
    members: int  # of each object: neither constants nor static ones


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
        end = _Scopes(code).matching(match.end() - 1)
        if re.search(r'\bvirtual\b[^;{}]*= 0;', code[match.end():end]):
            yield line_of(code, match.start()), match.group(1), _comment_above(text, match.start())


def classes(text):
    """Yields each class. One within another counts for itself, not for the other."""
    code = code_only(text)
    for match in _CLASS.finditer(code):
        found = _Scopes(code).declarations(match.end())
        yield Class(line_of(code, match.start()), match.group(1),
                    _comment_above(text, match.start()), len(_functions_of(found)),
                    sum(_members(each) for each in found))


def parameter_counts(text):
    """Yields (line, head, count, comment) of each function that a class declares, and of each that is
    defined elsewhere and belongs to no class."""
    code = code_only(text)
    heads = {(function.line, function.head) for function in functions(text)
             if not re.search(r'\w::~?\w+$', _bare(function.head).split('(')[0])}
    for match in _CLASS.finditer(code):
        heads |= {(line_of(code, begin), head)
                  for begin, head in _functions_of(_Scopes(code).declarations(match.end()))}
    starts = [0] + [match.end() for match in re.finditer('\n', text)]
    for line, head in sorted(heads):
        yield line, head, _parameters(head), _comment_above(text, starts[line - 1])


def _comment_above(text, position):
    above = re.search(r'(?:^[ \t]*//[^\n]*\n)*(?:^[ \t]*template[^\n]*\n)?\Z', text[:position],
                      re.MULTILINE)
    return ' '.join(re.findall(r'^\s*//+ ?(.*?)\s*$', above.group(0), re.MULTILINE))


def _bare(head):
    """Drops what stands in brackets of a declaration, and its initialiser."""
    head = re.sub(r'operator\s*(?:\(\)|[^\s\w(]+)', 'operator', head)
    head = re.sub(r'\balignas\([^()]*\)|\b[A-Z][A-Z_]+\([^()]*\)', '', head)
    for inner, left in ((r'\((?!\))[^()]*\)|\([^()]+\)', '()'), (r'<[^<>]*>', '')):
        shorter = None
        while shorter != head:
            head, shorter = re.sub(inner, left, head), head
    return re.split(r'=|\{', head)[0]


_OTHER = re.compile(r'^(?:template<.*> )?(?:using|typedef|friend|static_assert|class|struct|union|enum)\b')


def _functions_of(declarations):
    return [(begin, head) for begin, head in declarations
            if not _OTHER.match(head) and '(' in _bare(head)
            and not re.search(r'= (?:default|delete)$', head)]


def _members(declaration):
    head = declaration[1]
    bare = _bare(head)
    if _OTHER.match(head) or '(' in bare or re.search(r'\b(?:static|constexpr)\b', bare):
        return 0
    return 1 + bare.count(',')


def _parameters(head):
    head = re.sub(r'operator\s*(?:\(\)|[^\s\w(]+)', 'operator', head)
    depth, count, any_word = 0, 1, False
    for char in re.sub(r'->', '  ', head[head.find('('):] if '(' in head else '()'):
        depth += {'(': 1, '<': 1, '{': 1, ')': -1, '>': -1, '}': -1}.get(char, 0)
        if depth == 0:
            break
        count += depth == 1 and char == ','
        any_word = any_word or char.isalnum()
    return count if any_word else 0


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
                position = self.matching(position)
            elif char in ';}':
                start = position + 1
            elif char == ':' and self._LABEL.match(self.code[start:position]):
                start = position + 1
            elif char == '{':
                position, start = self._open(position, start)
                continue
            position += 1
        return self.found

    def declarations(self, position):
        """Lists (begin, text) of what is declared from here to the end of the class around it, without
        the bodies of functions."""
        found, start = [], position
        while position < len(self.code) and self.code[position] != '}':
            char = self.code[position]
            if char == '(':
                position = self.matching(position)
            elif char == ':' and self._LABEL.match(self.code[start:position]):
                start = position + 1
            elif char == ';':
                start = self._declared(start, position, found)
            elif char == '{':
                head = self.code[start:position].strip()
                position = self.matching(position)
                if not self._is_type(head) and not self._MEMBER_INITIALISER.search(head) and (
                        _functions_of([(start, ' '.join(head.split()))])):
                    start = self._declared(start, self.code.rindex(head, start, position) + len(head),
                                           found)
                    start = position + 1
            position += 1
        return found

    def _declared(self, start, end, found):
        text = self.code[start:end]
        if text.strip():
            found.append((start + len(text) - len(text.lstrip()), ' '.join(text.split())))
        return end + 1

    def _is_type(self, head):
        return self._SCOPE.match(head) and not head.endswith(')')

    def _open(self, brace, start):
        """Decides what a brace opens; returns where to go on and where the statement begins."""
        head = self.code[start:brace]
        stripped = head.strip()
        if self._is_type(stripped):
            return brace + 1, brace + 1
        end = self.matching(brace)
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

    def matching(self, position):
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
