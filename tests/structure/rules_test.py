# SPDX-License-Identifier: Apache-2.0
"""Every rule must catch a violation and name its place, and let the usual idioms pass."""

import unittest

import rules
import spdx
from source import classes, code_only, functions, parameter_counts

LAYERS = rules.parse_layers('''
levee_layer(base LIBS ${LEVEE_ABSL})
levee_layer(wire USES base PRIVATE protos)  # A comment (with brackets).
levee_layer(server USES base wire)
levee_layer(net USES base LIBS levee::uv)
levee_layer(demo GRPC
  USES base net protos grpc_protos
  LIBS gRPC::grpc++)
''')


def places(violations):
    return [(violation.path, violation.line) for violation in violations]


def lines(count, text='int x;\n'):
    return text * count


def function(length, name='F'):
    return f'int {name}() {{\n' + lines(length - 2, '  G();\n') + '}\n'


class LayerTable(unittest.TestCase):
    def test_holds_folders_and_libraries(self):
        self.assertEqual(['base', 'wire', 'server', 'net', 'demo'], list(LAYERS))
        self.assertEqual({'base', 'net', 'protos', 'grpc_protos'}, LAYERS['demo'].uses)
        self.assertEqual({'gRPC::grpc++'}, LAYERS['demo'].libs)
        self.assertEqual({'protos'}, LAYERS['wire'].private)


class Imports(unittest.TestCase):
    def assert_import(self, path, include, allowed):
        text = f'// A comment.\n#include {include}\n'
        expected = [] if allowed else [(path, 2)]
        self.assertEqual(expected, places(rules.imports({path: text}, LAYERS)))

    def test_a_folder_above_is_refused(self):
        self.assert_import('proxy/base/a.h', '"wire/status.h"', allowed=False)
        self.assert_import('proxy/wire/a.h', '"base/instant.h"', allowed=True)
        self.assert_import('proxy/wire/a.h', '"wire/status.h"', allowed=True)

    def test_a_declared_folder_or_library_that_nothing_includes_is_refused(self):
        sources = {'proxy/wire/a.cc': '#include "base/a.h"\n', 'proxy/net/a.cc': '#include <uv.h>\n',
                   'proxy/server/a.h': '#include "base/a.h"\n#include "wire/a.h"\n'}
        layers = {name: LAYERS[name] for name in ('wire', 'server', 'net')}
        layers |= {'base': rules.Layer(frozenset(), frozenset())}
        self.assertEqual(['wire/ declares protos and includes none of it',
                          'net/ declares base and includes none of it'],
                         [found.what for found in rules.unused_declarations(sources, layers)])

    def test_main_may_include_every_folder_but_no_library(self):
        self.assert_import('proxy/main.cc', '"demo/demo.h"', allowed=True)
        self.assert_import('proxy/main.cc', '<grpcpp/grpcpp.h>', allowed=False)

    def test_a_folder_without_a_line_is_refused(self):
        self.assert_import('proxy/extra/a.h', '"base/instant.h"', allowed=False)

    def test_libraries_belong_to_the_layers_that_link_them(self):
        self.assert_import('proxy/net/a.cc', '<uv.h>', allowed=True)
        self.assert_import('proxy/base/a.cc', '<uv.h>', allowed=False)
        self.assert_import('proxy/demo/a.cc', '"grpcpp/grpcpp.h"', allowed=True)
        self.assert_import('proxy/wire/a.cc', '"grpcpp/grpcpp.h"', allowed=False)
        self.assert_import('proxy/wire/a.cc', '<nghttp2/nghttp2.h>', allowed=False)
        self.assert_import('proxy/wire/a.cc', '"yaml-cpp/yaml.h"', allowed=False)
        self.assert_import('proxy/wire/a.cc', '<http_parser.h>', allowed=False)
        self.assert_import('proxy/wire/a.cc', '"prometheus/registry.h"', allowed=False)
        self.assert_import('proxy/wire/a.cc', '"absl/time/time.h"', allowed=True)

    def test_the_operating_system_belongs_to_net(self):
        for header in ('<sys/socket.h>', '<netinet/in.h>', '<arpa/inet.h>', '<unistd.h>',
                       '<poll.h>'):
            self.assert_import('proxy/wire/a.cc', header, allowed=False)
            self.assert_import('proxy/net/a.cc', header, allowed=True)
            self.assert_import('proxy/main.cc', header, allowed=True)

    def test_private_folders_are_for_sources_only(self):
        self.assert_import('proxy/wire/a.cc', '"levee/wire/v1/rpc_status.pb.h"', allowed=True)
        self.assert_import('proxy/wire/a.h', '"levee/wire/v1/rpc_status.pb.h"', allowed=False)
        self.assert_import('proxy/server/a.cc', '"levee/wire/v1/rpc_status.pb.h"', allowed=False)

    def test_generated_headers_follow_the_table(self):
        self.assert_import('proxy/wire/a.cc', '"levee/wire/v1/rpc_status.pb.h"', allowed=True)
        self.assert_import('proxy/base/a.cc', '"levee/wire/v1/rpc_status.pb.h"', allowed=False)
        self.assert_import('proxy/wire/a.cc', '<google/protobuf/any.pb.h>', allowed=True)
        self.assert_import('proxy/base/a.cc', '<google/protobuf/any.pb.h>', allowed=False)
        self.assert_import('proxy/demo/a.cc', '"levee/demo/v1/demo.grpc.pb.h"', allowed=True)
        self.assert_import('proxy/wire/a.cc', '"levee/demo/v1/demo.grpc.pb.h"', allowed=False)


class DataPlane(unittest.TestCase):
    INCLUDE = '// A comment.\n#include "google/protobuf/any.pb.h"\n'

    def test_is_the_server_and_what_it_uses(self):
        self.assertEqual({'server', 'wire', 'base'}, rules.data_plane(LAYERS))

    def test_may_not_include_protobuf_but_in_the_named_files(self):
        def of(path):
            return places(rules.protobuf_in_data_plane({path: self.INCLUDE}, LAYERS))

        self.assertEqual([('proxy/wire/status.cc', 2)], of('proxy/wire/status.cc'))
        self.assertEqual([], of('proxy/wire/status_details.cc'))
        self.assertEqual([], of('proxy/demo/a.cc'))

    def test_may_not_use_what_brings_protobuf(self):
        def of(line):
            layers = LAYERS | rules.parse_layers(line)
            return places(rules.protobuf_in_data_plane({}, layers))

        self.assertEqual([], of('levee_layer(server USES base wire)'))
        for line in ('levee_layer(wire USES base protos)', 'levee_layer(server USES wire config)'
                     'levee_layer(config USES base LIBS protobuf::libprotobuf)'):
            self.assertEqual([('CMakeLists.txt', 1)], of(line), line)

    def test_may_not_compile_protobuf_by_way_of_other_headers(self):
        def of(folder, header, state='VALID'):
            deps = (f'CMakeFiles/levee_{folder}.dir/proxy/{folder}/a.cc.o: #deps 2, deps mtime 1 '
                    f'({state})\n    ../proxy/{folder}/a.cc\n    {header}\n\n')
            return places(rules.protobuf_compiled_into_data_plane(rules.compiled(deps), LAYERS))

        self.assertEqual([('proxy/server/a.cc', 1)],
                         of('server', '/usr/include/google/protobuf/message.h'))
        self.assertEqual([('proxy/wire/a.cc', 1)], of('wire', 'protos/levee/config/v1/config.pb.h'))
        self.assertEqual([], of('server', '../proxy/base/instant.h'))
        self.assertEqual([], of('server', 'protos/levee/config/v1/config.pb.h', 'STALE'))
        self.assertEqual([], of('demo', 'protos/levee/config/v1/config.pb.h'))


class Sizes(unittest.TestCase):
    def test_a_file_above_the_maximum_is_refused(self):
        sources = {f'proxy/base/{i}.h': lines(10) for i in range(20)}
        self.assertEqual([], places(rules.file_lengths(sources)))
        sources['proxy/base/long.h'] = lines(501)
        self.assertEqual([('proxy/base/long.h', 1)], places(rules.file_lengths(sources)))

    def test_one_file_in_ten_may_be_longer_than_usual(self):
        sources = {f'proxy/base/{i}.h': lines(10) for i in range(19)}
        sources['proxy/base/a.h'] = lines(301)
        self.assertEqual([], places(rules.file_lengths(sources)))
        sources['proxy/base/b.h'] = lines(302)
        self.assertEqual([], places(rules.file_lengths(sources)))
        sources['proxy/base/c.h'] = lines(303)
        self.assertEqual([('proxy/base/c.h', 1)], places(rules.file_lengths(sources)))

    def test_a_function_above_the_maximum_is_refused(self):
        text = 'int x;\n' + function(70) + ''.join(function(3) for _ in range(20))
        self.assertEqual([], places(rules.function_lengths({'a.cc': text})))
        text = 'int x;\n' + function(71) + ''.join(function(3) for _ in range(20))
        self.assertEqual([('a.cc', 2)], places(rules.function_lengths({'a.cc': text})))

    def test_one_function_in_ten_may_be_longer_than_usual(self):
        text = function(31) + ''.join(function(3) for _ in range(9))
        self.assertEqual([], places(rules.function_lengths({'a.cc': text})))
        text = function(31) + function(32) + ''.join(function(3) for _ in range(9))
        self.assertEqual([('a.cc', 32)], places(rules.function_lengths({'a.cc': text})))


class ClassSizes(unittest.TestCase):
    def found(self, body, comment='', name='A'):
        text = f'// A.\n\n{comment}class {name} {{\n{body}}};\n'
        return places(rules.class_sizes({'proxy/h2/a.h': text}))

    def test_a_class_with_too_many_functions_or_members_is_refused(self):
        self.assertEqual([], self.found(lines(30, '  void F();\n') + lines(20, '  int x_ = 0;\n')))
        self.assertEqual([('proxy/h2/a.h', 3)], self.found(lines(31, '  void F() {}\n')))
        self.assertEqual([('proxy/h2/a.h', 3)], self.found(lines(21, '  int x_;\n')))

    def test_a_sentence_above_the_class_excuses_one_bound(self):
        functions_31, members_21 = lines(31, '  int F();\n'), lines(21, '  int x_;\n')
        comment = '// One lock.\n// Above 30 functions: the\n// lock is one.\n'
        self.assertEqual([], self.found(functions_31, comment))
        self.assertEqual([('proxy/h2/a.h', 6)], self.found(functions_31 + members_21, comment))
        self.assertEqual([], self.found(functions_31, comment + 'template <typename T>\n'))

    def test_an_excuse_that_nothing_needs_is_refused(self):
        comment = '// Above 20 data members: a form has them.\n'
        self.assertEqual([('proxy/h2/a.h', 4)], self.found(lines(20, '  int x_;\n'), comment))

    def test_the_class_of_a_name_elsewhere_counts_too(self):
        self.assertEqual([('proxy/h2/a.h', 3)], self.found(lines(31, '  void F();\n'), name='A::Impl'))

    def test_a_long_list_of_parameters_is_refused_where_it_is_declared(self):
        def found(text):
            return places(rules.parameter_lists({'proxy/h2/a.cc': text}))

        seven = 'int a, std::map<int, int> b, int c, int d, int e, int f, std::function<void(int, int)> g'
        six = seven.replace(', int f', '')
        self.assertEqual([('proxy/h2/a.cc', 1)], found(f'void F({seven}) {{}}\n'))
        self.assertEqual([], found(f'void F({six}) {{}}\n'))
        self.assertEqual([('proxy/h2/a.cc', 2)], found(f'class A {{\n  explicit A({seven});\n}};\n'))
        self.assertEqual([], found(f'A::A({seven}) : x_(1) {{}}\nint* A::F({seven}) {{}}\n'))
        self.assertEqual([], found(f'// Above 6 parameters: a library calls it.\nvoid F({seven}) {{}}\n'))
        self.assertEqual([('proxy/h2/a.cc', 2)],
                         found(f'// Above 6 parameters: none.\nvoid F({six}) {{}}\n'))


class ClassFinder(unittest.TestCase):
    def found(self, body):
        return [(each.name, each.functions, each.members)
                for each in classes(f'class A final : public B<int> {{\n{body}}};\n')]

    def test_counts_functions_however_they_are_declared(self):
        self.assertEqual([('A', 12, 0)], self.found(''' public:
  explicit A(int x) : B(x), y_{x}, z_(std::move(x)) {}
  ~A();
  virtual int F(Options options = {}, int y = 1) const = 0;
  template <typename F, typename = void>
  void ForEach(F f) const {
    for (;;) { f([] { return 1; }); }
  }
  static absl::StatusOr<std::vector<int>> Open(std::function<void(int)> f);
  bool operator==(const A& other) const { return x == other.x; }
  A& operator=(int x);
  void operator()(int x) const;
  operator bool() const { return true; }
  int size() const { return size_; }
  [[nodiscard]] bool empty() const noexcept;
  int& x() { return x_; }
'''))

    def test_counts_members_of_every_kind(self):
        self.assertEqual([('A', 0, 10)], self.found(''' private:
  int x_ = F(1);
  int y_{2};
  std::function<void(int)> f_;
  std::map<int, std::vector<int>> map_;
  int a_, b_;
  const std::array<int, 3> array_{{1, 2, 3}};
  int guarded_ ABSL_GUARDED_BY(mutex_) = 0;
  bool bit_ : 1 = true;
  Timer timer_{[this] { OnTimer(); }};
'''))

    def test_counts_nothing_else(self):
        self.assertEqual([('A', 0, 1)], self.found(''' public:
  using Body = std::function<void(int)>;
  enum class State { kOpen, kClosed };
  static constexpr int kMost = Most(3);
  static inline thread_local int count;
  A() = default;
  A(const A&) = delete;
  A& operator=(const A&) = delete;
  bool operator==(const A&) const = default;
  friend class C;
  friend bool operator<(const A& a, const A& b) { return true; }
  class D;
  static_assert(sizeof(int) == 4);

 private:
  int x_;
'''))

    def test_a_class_within_another_counts_for_itself(self):
        self.assertEqual([('A', 1, 1), ('D', 2, 3)], self.found('''  struct D {
    int F() const { return a; }
    int G();
    int a, b;
    int c;
  };
  D d_;
  int H();
'''))


class FunctionFinder(unittest.TestCase):
    def found(self, text):
        return [(function.line, function.length) for function in functions(text)]

    def test_finds_functions_in_namespaces_and_classes(self):
        self.assertEqual([(3, 1), (5, 3), (11, 3)], self.found('''namespace levee {
class A final : public B {
  int x() const { return x_; }
 public:
  explicit A(int x) {
    x_ = x;
  }
  A() = default;
  int x_ = 0;
};
absl::StatusOr<int> Parse(std::string_view text) {
  if (text.empty()) { return 1; }
}
}  // namespace levee
'''))

    def test_a_member_initialiser_is_part_of_the_head(self):
        self.assertEqual([(1, 5), (6, 1)], self.found('''A::A(int x, std::vector<int> y)
    : B(x),
      x_{x},
      y_{std::move(y)} {
}
void A::Next() {}
'''))

    def test_the_template_line_counts(self):
        self.assertEqual([(1, 3)], self.found('''template <typename T, int kSize = 3>
T Max(T a, T b) noexcept {
  return a; }
'''))

    def test_a_lambda_and_a_local_class_count_for_the_function_around_them(self):
        self.assertEqual([(1, 6)], self.found('''void F() {
  struct Local { int G() { return 1; } };
  auto g = [](int x) {
    return x;
  };
}
'''))

    def test_variables_types_and_default_arguments_are_not_functions(self):
        self.assertEqual([(6, 1)], self.found('''constexpr int kTable[] = {Size(1), Size(2)};
enum class Color : uint8_t { kRed, kBlue };
struct alignas(64) Padded { std::atomic<int> x{0}; };
const std::map<int, int> kMap{{1, 2}};
extern "C" {
void F(Options options = {}, int y = 1) {}
}
'''))

    def test_operators_with_an_equals_sign_are_functions(self):
        self.assertEqual([(1, 1), (2, 1), (3, 1)], self.found(
            '''bool operator==(const A& a, const A& b) { return true; }
A& operator=(const A& a) { return *this; }
A& operator+=(absl::Duration d) { return *this; }
'''))

    def test_braces_in_literals_comments_and_macros_are_ignored(self):
        self.assertEqual([(2, 4)], self.found('''#define BEGIN {
int F() {  // {
  char c = '{';
  const char* s = "}{{" R"x(
)" { )x"; }
/* { */
'''))

    def test_a_quote_in_a_number_is_no_literal(self):
        self.assertEqual("x = 1'000 + '{'[0];".replace('{', ' '), code_only("x = 1'000 + '{'[0];"))

    def test_tests_are_functions(self):
        self.assertEqual([(1, 3)], self.found('TEST(A, B) {\n  F();\n}\n'))


class Bans(unittest.TestCase):
    AMBIENT = ('std::chrono::steady_clock::now()', 'std::chrono::system_clock::now()',
               'absl::Now()', 'time(nullptr)', '::time(nullptr)', 'gettimeofday(&t, nullptr)',
               'clock_gettime(CLOCK_REALTIME, &t)', 'uv_hrtime()', 'rand()', 'std::rand()',
               'std::random_device{}()', 'std::mt19937_64 r(1)', 'getenv("HOME")')

    def test_clocks_and_randomness_are_refused(self):
        for fact in self.AMBIENT:
            text = f'void F() {{\n  auto x = {fact};\n}}\n'
            for path in ('proxy/policy/a.cc', 'proxy/cli/a.cc', 'tests/policy/a_test.cc'):
                self.assertEqual([(path, 2)], places(rules.ambient_facts({path: text})), fact)

    def test_clocks_are_allowed_at_the_edge(self):
        for path in ('proxy/net/clock.cc', 'proxy/main.cc', 'tests/integration/a_test.cc'):
            self.assertEqual([], places(rules.ambient_facts({path: 'auto t = absl::Now();\n'})))

    def test_likely_names_are_not_clocks(self):
        text = 'x.time(); y->time(); grand(); start_time(1); // absl::Now()\nauto s = "rand()";\n'
        self.assertEqual([], places(rules.ambient_facts({'proxy/policy/a.cc': text})))

    def test_tests_that_sleep_are_refused(self):
        for call in ('sleep(1)', 'usleep(1)', 'nanosleep(&t, nullptr)', 'absl::SleepFor(d)',
                     'std::this_thread::sleep_for(d)', 'std::this_thread::sleep_until(t)',
                     'poll(nullptr, 0, 5)', 'ppoll(nullptr, 0, &t, nullptr)',
                     'select(0, nullptr, nullptr, nullptr, &t)'):
            text = f'// No sleep() here.\n{call};\n'
            self.assertEqual([('tests/h2/a.h', 2)], places(rules.sleeps({'tests/h2/a.h': text})))

    def test_scripts_that_sleep_are_refused(self):
        for path, call in (('tests/docs/a.py', 'time.sleep(1)'), ('tests/docs/a.py', 'a.b.sleep(1)'),
                           ('tests/docs/a.py', 'from time import sleep'),
                           ('tests/page/a.js', 'setTimeout(resolve, 1000)'),
                           ('tests/page/a.mjs', 'await page.waitForTimeout(1)')):
            text = {'py': '# No time.sleep(1) here.', 'js': '// No setTimeout(f) here.',
                    'mjs': '// No setTimeout(f) here.'}[path.split('.')[1]] + f'\n{call}\n'
            self.assertEqual([(path, 2)], places(rules.sleeps({path: text})), call)

    def test_what_asks_again_and_again_is_in_one_place(self):
        text = 'import time\ntime.sleep(1)\n'
        self.assertEqual([], places(rules.sleeps({'tests/waiting/waiting.py': text})))
        self.assertEqual([('tests/waiting/other.py', 2)],
                         places(rules.sleeps({'tests/waiting/other.py': text})))

    def test_a_header_without_a_comment_is_refused(self):
        def of(text):
            return places(rules.header_comments({'proxy/base/a.h': text}))

        self.assertEqual([('proxy/base/a.h', 1)], of('#pragma once\n'))
        self.assertEqual([('proxy/base/a.h', 1)], of('//\n#pragma once\n'))
        self.assertEqual([], of('// Points in time.\n#pragma once\n'))

    def test_the_line_of_the_licence_is_no_such_comment(self):
        text = '// SPDX-License-Identifier: Apache-2.0\n#pragma once\n'
        self.assertEqual([('proxy/base/a.h', 1)],
                         places(rules.header_comments({'proxy/base/a.h': text})))


class Licences(unittest.TestCase):
    def missing(self, path, text):
        return bool(places(rules.licences({path: text})))

    def test_every_kind_of_source_has_its_line(self):
        for path, first in (('proxy/base/a.h', '// A.'), ('tests/run', '#!/bin/bash'),
                            ('tests/a.py', '#!/usr/bin/env python3'), ('CMakeLists.txt', 'x()'),
                            ('config/a.yaml', '# yaml-language-server: $schema=x.json'),
                            ('proxy/admin/page/a.html', '<!doctype html>'),
                            ('proxy/admin/page/a.css', 'a {}'), ('protos/a.proto', '')):
            text = f'{first}\nmore\n'
            self.assertTrue(self.missing(path, text), path)
            self.assertFalse(self.missing(path, spdx.added(path, text)), path)

    def test_lines_that_have_to_be_first_stay_first(self):
        for path, first in (('tests/run', '#!/bin/bash'), ('a.html', '<!doctype html>'),
                            ('config/a.yaml', '# yaml-language-server: $schema=x.json')):
            self.assertEqual(first, spdx.added(path, first + '\nmore\n').split('\n')[0])

    def test_other_files_have_none(self):
        for path in ('README.md', 'config/levee.schema.json', 'docs/images/page.png', 'LICENSE',
                     'tests/kubernetes/golden/sidecar.yaml', 'tests/fuzz/corpus/config_fuzz/x'):
            self.assertFalse(self.missing(path, 'more\n'), path)


class Interfaces(unittest.TestCase):
    HANDLER = 'class Handler {\n public:\n  virtual void OnEnd(int how) = 0;\n};\n'
    ONE = 'class One final : public ListLink<One>, private net::Handler {\n};\n'

    def found(self, comment='', **others):
        interface = {'proxy/net/a.h': f'// A.\n\n{comment}{self.HANDLER}'}
        return places(rules.interfaces(interface | others))

    def test_one_implementation_is_refused_at_the_interface(self):
        self.assertEqual([('proxy/net/a.h', 3)], self.found())
        self.assertEqual([('proxy/net/a.h', 3)], self.found(**{'proxy/server/a.h': self.ONE}))
        self.assertEqual([('proxy/net/a.h', 5)], self.found('// Hears of\n// ends.\n'))

    def test_a_fake_of_a_test_counts_and_a_list_of_handlers_does_not(self):
        fake = 'struct Fake : Handler {\n};\n'
        self.assertEqual([], self.found(**{'proxy/server/a.h': self.ONE, 'tests/net/a.cc': fake}))
        other = 'class Other : public ListLink<Handler> {\n};\n'
        self.assertEqual([('proxy/net/a.h', 3)],
                         self.found(**{'proxy/server/a.h': self.ONE, 'tests/net/a.cc': other}))

    def test_an_interface_that_inverts_a_layer_says_so(self):
        self.assertEqual([], self.found('// The interface inverts a\n// dependency: it does.\n'))

    def test_a_name_of_two_files_is_refused_in_the_second_one_of_their_folder(self):
        def found(first, second, other='proxy/net/b.cc'):
            unnamed = 'namespace {{\n\n{}\n\n}}  // namespace\n'
            return places(rules.names_shared_in_a_folder(
                {'proxy/net/a.cc': unnamed.format(first), other: unnamed.format(second)}))
        self.assertEqual([('proxy/net/b.cc', 3)], found('class A {\n};', 'struct A {\n};'))
        self.assertEqual([('proxy/net/b.cc', 3)], found('constexpr int kA = 1;', 'enum class kA {\n};'))
        self.assertEqual([], found('class A {\n};', 'struct B {\n};'))
        self.assertEqual([], found('class A {\n};', 'struct A {\n};', 'proxy/tls/b.cc'))

    def test_virtual_functions_that_are_defined_make_no_interface(self):
        text = '// A.\nclass Node {\n public:\n  virtual ~Node() = default;\n};\n'
        self.assertEqual([], places(rules.interfaces({'proxy/net/a.h': text})))


class Sentences(unittest.TestCase):
    def found(self, text, path='proxy/base/a.h'):
        return places(rules.unattached_sentences({path: text}))

    def test_a_sentence_about_nothing_is_refused_at_its_comment(self):
        self.assertEqual([('proxy/base/a.h', 1)], self.found('// What is kept.\n'))
        self.assertEqual([('proxy/base/a.h', 2)],
                         self.found('int x;\n// Keeps it. Those\n// that end go.\nint y;\n'))
        self.assertEqual([('proxy/base/a.h', 1)], self.found('int x;  // Whoever comes first.\n'))

    def test_other_sentences_and_questions_pass(self):
        self.assertEqual([], self.found('// Which of them? What runs? Says what runs.\n'))
        self.assertEqual([], self.found('// Ends those\n// Whatsoever.\n'))
        self.assertEqual([], self.found('const char* s = "What is this";\n'))

    def test_two_comments_are_two(self):
        self.assertEqual([('proxy/base/a.h', 2)],
                         self.found('int x;  // one\nint y;  // What it is\n'))


if __name__ == '__main__':
    unittest.main()
