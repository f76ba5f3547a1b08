# SPDX-License-Identifier: Apache-2.0
"""The rules on structure. Each takes sources as a dict {path: text} and yields violations."""

import ast
import re
from typing import NamedTuple

import spdx
from source import (abstract_classes, bases, classes, code_only, comments, functions, includes,
                    line_of, parameter_counts)

FILE_LINES_MAX = 500
FILE_LINES_USUAL = 300
FUNCTION_LINES_MAX = 70
FUNCTION_LINES_USUAL = 30
USUAL_SHARE = 0.9

CLASS_FUNCTIONS_MAX = 30
CLASS_MEMBERS_MAX = 20
FUNCTION_PARAMETERS_MAX = 6

# The headers that each library of the layer table brings.
THIRD_PARTY = {
    'levee::uv': ('uv.h', 'uv/'),
    'levee::cares': ('ares.h', 'ares_'),
    'levee::nghttp2': ('nghttp2/',),
    'gRPC::grpc++': ('grpc/', 'grpc++/', 'grpcpp/'),
    'yaml-cpp': ('yaml-cpp/',),
    'levee::http_parser': ('http_parser.h',),
    'prometheus-cpp::core': ('prometheus/',),
    'CLI11::CLI11': ('CLI/',),
    'OpenSSL::SSL': ('openssl/',),
}

# The operating system is net's business; main.cc and the commands meet it at start and exit.
SYSTEM_HEADERS = re.compile(
    r'^(sys/|netinet/|arpa/|net/if|linux/|(unistd|poll|netdb|fcntl|ifaddrs|signal|pthread|sched|'
    r'dirent|termios|pwd|grp|spawn|dlfcn)\.h$|csignal$)')
SYSTEM_FOLDERS = ('net', 'cli', 'main.cc')

# Time, randomness and the environment are parameters everywhere else, so that a seed replays.
AMBIENT = re.compile(
    r'\b\w*_clock::now\b|\babsl::Now\b|\babsl::GetCurrentTimeNanos\b|\bgettimeofday\b'
    r'|\bclock_gettime\b|\buv_hrtime\b|\buv_now\b|(?<![\w.>])time\s*\(|\bs?rand\s*\('
    r'|\brandom_device\b|\bmt19937|\bdefault_random_engine\b|\babsl::BitGen\b|\bgetenv\b')
AMBIENT_FOLDERS = ('net', 'main.cc')
# Tests of what is free of ambient facts run on virtual time and on literal seeds.
PURE_TESTS = ('base', 'log', 'wire', 'policy', 'call', 'config', 'hpack', 'h2', 'sim')

# A sentence that begins with one of these has nothing in front of it that the word could refer to.
UNATTACHED = re.compile(r'(?:^|(?<=[.:;!?)] ))(?:What|Whatever|Who|Whoever|Whose|Those)\b[^.;?]*\??')

SLEEP = re.compile(r'\b(?:u|nano)?sleep\s*\(|\bsleep_(?:for|until)\b|\babsl::SleepFor\b'
                   # Nothing to wait for but the time: poll(nullptr, 0, n), select(0, ...).
                   r'|\bp?poll\s*\(\s*(?:nullptr|NULL|0)\s*,|\bselect\s*\(\s*0\s*,')
JS_SLEEP = re.compile(r'(?<!\.)\bsetTimeout\s*\(|\bwaitForTimeout\s*\(')
# Where time may pass, and why.
BY_THE_CLOCK = (
    # The ends of storms, attacks and benchmarks are no tests: they make load by the clock, and measure.
    'tests/storms/', 'tests/weather/', 'tests/attacks/',
    'tests/bench/proxies.py', 'tests/bench/scaling.py',
    # Services that answer when their callers have asked them to.
    'tests/image/image.test.js', 'tests/interop/node/server.js',
    # What asks again and again for what nobody tells of, one place of each language.
    'tests/waiting/waiting.py', 'tests/integration/eventually.h',
    # What suites that measure let time pass by.
    'tests/integration/real_time.h')


# What of the data plane may include Protobuf.
PROTOBUF_FILES = ('proxy/wire/status_details.cc',)


class Violation(NamedTuple):
    path: str
    line: int
    what: str

    def __str__(self):
        return f'{self.path}:{self.line}: {self.what}'


class Layer(NamedTuple):
    uses: frozenset
    libs: frozenset
    private: frozenset = frozenset()  # what only its .cc files use


def parse_layers(cmake):
    """Reads the layer table out of CMakeLists.txt; the link lists are the rule."""
    cmake = re.sub(r'#[^\n]*', '', cmake)
    layers = {}
    for match in re.finditer(r'\blevee_layer\(([^)]*)\)', cmake):
        words = match.group(1).split()
        parts = {'USES': [], 'PRIVATE': [], 'LIBS': []}
        part = None
        for word in words[1:]:
            if word in parts:
                part = parts[word]
            elif part is not None:
                part.append(word)
        layers[words[0]] = Layer(frozenset(parts['USES']), frozenset(parts['LIBS']),
                                 frozenset(parts['PRIVATE']))
    return layers


def _folder(path):
    """proxy/net/loop.cc -> net, proxy/main.cc -> main.cc"""
    return path.split('/')[1]


def _matches(regex, sources, applies, what):
    for path, text in sources.items():
        if applies(path):
            code = code_only(text)
            for match in regex.finditer(code):
                found = match.group(0).rstrip(' (')
                yield Violation(path, line_of(code, match.start()), f'{found}: {what}')


def imports(sources, layers):
    """A folder includes only folders and libraries of its line of the layer table."""
    for path, text in sources.items():
        if not path.startswith('proxy/'):
            continue
        for line, include in includes(text):
            what = _import_fault(path, include, layers)
            if what:
                yield Violation(path, line, what)


def _import_fault(path, include, layers):
    folder = _folder(path)
    if SYSTEM_HEADERS.match(include):
        return None if folder in SYSTEM_FOLDERS else f'<{include}> belongs to net/'
    wanted = _imported_layer(include, layers)
    if folder == 'main.cc':  # The program itself may use every layer, but no library directly.
        layer = Layer(frozenset(layers) | {'protos'}, frozenset())
    elif folder in layers:
        layer = layers[folder]
    else:
        return f'{folder}/ has no line in the layer table'
    allowed = layer.uses if path.endswith('.h') else layer.uses | layer.private
    if wanted and wanted != folder and wanted not in allowed:
        return f'{folder}/ may not include "{include}"'
    for library, prefixes in THIRD_PARTY.items():
        if include.startswith(prefixes) and library not in layer.libs:
            return f'{folder}/ may not include "{include}" without {library} in its LIBS'
    return None


def unused_declarations(sources, layers):
    """A line of the layer table names only folders and libraries that the folder includes."""
    for folder, layer in layers.items():
        included = [include for path, text in sources.items()
                    if path.startswith(f'proxy/{folder}/') for _, include in includes(text)]
        used = {_imported_layer(include, layers) for include in included}
        unused = (layer.uses | layer.private) - used
        unused |= {library for library in layer.libs & THIRD_PARTY.keys()
                   if not any(include.startswith(THIRD_PARTY[library]) for include in included)}
        for name in sorted(unused):
            yield Violation('CMakeLists.txt', 1, f'{folder}/ declares {name} and includes none of it')


def _imported_layer(include, layers):
    """Returns the layer that a header belongs to, or None for a library's header. A layer that uses
    the generated code may also use the library behind it."""
    if include.startswith('google/protobuf/'):
        return 'protos'
    if include.startswith(('envoy/', 'levee/', 'opentelemetry/', 'spiffe/workload.')):
        return 'grpc_protos' if include.endswith('.grpc.pb.h') else 'protos'
    first = include.split('/')[0]
    return first if '/' in include and first in layers else None


def data_plane(layers):
    """The folders whose code calls run through: server/ and every folder that it uses."""
    found, open_ends = set(), ['server']
    while open_ends:
        folder = open_ends.pop()
        if folder not in found:
            found.add(folder)
            open_ends += layers[folder].uses & layers.keys()
    return found


def is_protobuf(header):
    return header.endswith('.pb.h') or 'google/protobuf/' in header


def protobuf_in_data_plane(sources, layers):
    """The data plane knows no Protobuf: no folder of it uses generated code or the library, nor a
    folder that does. PROTOBUF_FILES are the exceptions, and only in private."""
    for folder in sorted(data_plane(layers)):
        layer = layers[folder]
        for name in sorted(layer.uses | layer.libs):
            if name in ('protos', 'grpc_protos') or 'protobuf' in name:
                yield Violation('CMakeLists.txt', 1, f'{folder}/ is of the data plane, which uses '
                                                     f'no Protobuf: {name}')
    for path, text in sources.items():
        if path.startswith('proxy/') and path not in PROTOBUF_FILES:
            for line, include in includes(text):
                if is_protobuf(include) and _folder(path) in data_plane(layers):
                    yield Violation(path, line, f'the data plane may not include "{include}"')


def compiled(deps):
    """Reads what `ninja -t deps` prints: for each source of proxy/ whose object is up to date, the
    files that the compiler has read."""
    files = {}
    read = []
    for line in deps.splitlines():
        if line.startswith(' '):
            read.append(line.strip())
        elif line:
            read = []
            target = re.match(r'CMakeFiles/levee_\w+\.dir/(proxy/\S+)\.o: .*\(VALID\)$', line)
            if target:
                files[target.group(1)] = read
    return files


def protobuf_compiled_into_data_plane(files, layers):
    """The same of what the compiler has read, directly or not."""
    for path, read in files.items():
        headers = [each for each in read if is_protobuf(each)]
        if headers and path not in PROTOBUF_FILES and _folder(path) in data_plane(layers):
            yield Violation(path, 1, f'the data plane may not include {headers[0]}')


def file_lengths(sources):
    """No file above 500 lines, nine in ten at most 300."""
    lengths = [(text.count('\n'), 1, path, 'the file') for path, text in sources.items()]
    yield from _lengths(lengths, FILE_LINES_MAX, FILE_LINES_USUAL)


def function_lengths(sources):
    """No function above 70 lines, nine in ten at most 30."""
    lengths = [(function.length, function.line, path, function.head)
               for path, text in sources.items() for function in functions(text)]
    yield from _lengths(lengths, FUNCTION_LINES_MAX, FUNCTION_LINES_USUAL)


def _lengths(lengths, maximum, usual):
    for length, line, path, name in lengths:
        if length > maximum:
            yield Violation(path, line, f'{length} lines, at most {maximum}: {name}')
    long = sorted(entry for entry in lengths if entry[0] > usual)
    allowed = int(len(lengths) * (1 - USUAL_SHARE) + 1e-9)
    for length, line, path, name in long[allowed:]:
        yield Violation(path, line, f'{length} lines; only {allowed} of {len(lengths)} may have '
                                    f'more than {usual}: {name}')


def class_sizes(sources):
    """A class declares at most 30 functions and 20 data members, and so has one job that one can read.
    Lines that move to another file change nothing of that."""
    for path, text in sources.items():
        for each in classes(text):
            for count, maximum, what in ((each.functions, CLASS_FUNCTIONS_MAX, 'functions'),
                                         (each.members, CLASS_MEMBERS_MAX, 'data members')):
                yield from _bounded(path, each.line, each.name, each.comment, count, maximum, what)


def parameter_lists(sources):
    """A function has at most 6 parameters."""
    for path, text in sources.items():
        for line, head, count, comment in parameter_counts(text):
            yield from _bounded(path, line, head, comment, count, FUNCTION_PARAMETERS_MAX,
                                'parameters')


def _bounded(path, line, name, comment, count, maximum, what):
    """The comment right above may say why this one is above the bound, in a sentence that begins with
    the bound. It has to be true."""
    excused = re.search(rf'\bAbove {maximum} {what}: \w', comment) is not None
    if count > maximum and not excused:
        yield Violation(path, line, f'{count} {what}, at most {maximum}: {name}; part it, or say why not '
                                    f'in its comment: "Above {maximum} {what}: ..."')
    if excused and count <= maximum:
        yield Violation(path, line, f'{count} {what} are not above {maximum}: {name}')


def ambient_facts(sources):
    """Clocks, randomness and the environment are read only in net/ and main.cc."""
    def applies(path):
        top, folder = path.split('/')[:2]
        if top == 'tests':
            return folder in PURE_TESTS
        return folder not in AMBIENT_FOLDERS

    yield from _matches(AMBIENT, sources, applies,
                        'time, randomness and environment come as parameters, from net/')


def sleeps(sources):
    """A test waits for an event, never for a while."""
    tests = {path: text for path, text in sources.items()
             if path.startswith('tests/') and not path.startswith(BY_THE_CLOCK)}
    what = 'wait for the event instead'
    yield from _matches(SLEEP, tests, lambda path: path.endswith(('.cc', '.h')), what)
    yield from _matches(JS_SLEEP, tests, lambda path: path.endswith(('.js', '.mjs')), what)
    for path, text in tests.items():
        if path.endswith('.py'):
            for line in sorted(_python_sleeps(text)):
                yield Violation(path, line, f'sleep: {what}, or ask by tests/waiting/waiting.py')


def _python_sleeps(text):
    """Yields the lines that call time.sleep by whatever path, or import it under its own name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == 'sleep':
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module in ('time', 'asyncio'):
            if any(name.name == 'sleep' for name in node.names):
                yield node.lineno


def unattached_sentences(sources):
    """A sentence of a comment says what it is about, unless it is a question."""
    for path, text in sources.items():
        if not path.startswith('proxy/'):
            continue
        for line, comment in comments(text):
            for match in UNATTACHED.finditer(comment):
                if not match.group(0).endswith('?'):
                    yield Violation(path, line, f'give this sentence a subject: {match.group(0)}')


def interfaces(sources):
    """A class with a pure virtual function has two implementations, fakes of tests included, or its
    comment says that it inverts a dependency between layers."""
    known = [base for text in sources.values() for base in bases(text)]
    for path, text in sources.items():
        if not path.startswith('proxy/'):
            continue
        for line, name, comment in abstract_classes(text):
            if known.count(name) < 2 and 'inverts a dependency' not in comment:
                yield Violation(path, line, f'{name} has one implementation: refer to that class, or '
                                            'say that the interface inverts a dependency')


# The start of a type or a constant in a namespace, and its name.
OWN_NAME = re.compile(r'(?:template.*> *)?(?:class|struct|enum class|enum|union) (\w+)'
                      r'|(?:inline )?(?:constexpr|const)\b[^=({;]*?\b(\w+)(?:\[\w*\])* ?[={;]')
# Their files are programs of their own, or are compiled one by one.
COMPILED_ALONE = ('tests/bench/', 'tests/fuzz/', 'tests/interop/')


def names_shared_in_a_folder(sources):
    """Files of a folder are compiled several at a time (cmake/Compiler.cmake), so a type or a constant
    in an unnamed namespace is the only one of its name there."""
    first = {}
    for path, text in sources.items():
        if not path.endswith('.cc') or path.startswith(COMPILED_ALONE) or path.endswith('_bench.cc'):
            continue
        unnamed = False
        for number, line in enumerate(text.splitlines(), 1):
            if line == 'namespace {':
                unnamed = True
            elif line == '}  // namespace':
                unnamed = False
            found = OWN_NAME.match(line) if unnamed else None
            if found is None or line.endswith(';') and found[1]:
                continue
            key = path.rpartition('/')[0], found[1] or found[2]
            other = first.setdefault(key, path)
            if other != path:
                yield Violation(path, number, f'{other} has a {key[1]}, too, and the files of a folder '
                                              'are compiled together')


def header_comments(sources):
    """A header's first line behind that of its licence starts to say what it holds."""
    for path, text in sources.items():
        if (path.startswith('proxy/') and path.endswith('.h')
                and not re.match(r'// \w', spdx.without(text))):
            yield Violation(path, 1, 'the header needs a comment that says what it holds')


def licences(sources):
    """Every source names its licence in its first line, or in the second where another is first."""
    for path, text in sources.items():
        if spdx.is_missing(path, text):
            yield Violation(path, 1, f'{spdx.TEXT} is missing; tests/structure/spdx.py --add')
