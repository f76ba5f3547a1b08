# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page levee.yaml(5) from the JSON Schema of the configuration:
write_config_page.py SCHEMA VERSION FILE"""

import json
import pathlib
import re
import sys

# What the schema's patterns of texts mean, by a part that only they have. The first that fits counts.
TEXTS = [
    ('ns|us|ms', 'a duration: 250ms, 1.5s, 2m'),
    ('KiB', 'a size: 16KiB, 4MiB'),
    ('{1,5}', 'an address: 127.0.0.1:9460'),
    ('{1,63}', 'a name'),
]

HEAD = r"""
.SH NAME
levee.yaml \- the policy of the levee sidecar
.SH DESCRIPTION
The file is YAML.
Every field has a default unless it says that it is required, and an empty file is valid.
A running sidecar reads the file again when it changes.
It takes over all of it or, if it has a fault, nothing.
.PP
\fBlevee check\fR \fIFILE\fR finds faults and dangers.
\fI/usr/share/doc/levee/levee.yaml\fR has every field with its default, and
\fI/usr/share/doc/levee/examples\fR has whole files.
"""

TAIL = r""".SH FILES
.TP
\fI/etc/levee/levee.yaml\fR
The policy of the service \fBlevee\fR.
.TP
\fI/usr/share/doc/levee/levee.schema.json\fR
The JSON Schema from which this page is made, for editors.
.SH SEE ALSO
.BR levee (1),
.BR levee\-check (1),
.BR levee\-run (1)
"""


def escaped(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + text if text.startswith(('.', "'")) else text


def plain(value):
    return value if isinstance(value, str) else json.dumps(value)


def kinds(field):
    """What a value of the field may be, each as a phrase."""
    if 'anyOf' in field:
        return [kind for each in field['anyOf'] for kind in kinds(each)]
    if '$ref' in field:
        return ['a mapping (see ' + field['$ref'].rpartition('/')[2].upper() + ')']
    if 'enum' in field:
        return [plain(value) for value in field['enum']]
    if field.get('type') == 'array':
        return ['a list; an item is ' + ' or '.join(kinds(field['items']))]
    if field.get('type') in ('integer', 'number'):
        words = 'a whole number' if field['type'] == 'integer' else 'a number'
        least = field.get('minimum', field.get('exclusiveMinimum'))
        most = field.get('maximum', field.get('exclusiveMaximum'))
        if least is not None:
            words += f' from {least}' if 'minimum' in field else f' above {least}'
        if most is not None:
            words += f' up to {most}' if 'maximum' in field else f' below {most}'
        return [words]
    if field.get('type') == 'boolean':
        return ['true', 'false']
    if field.get('type') == 'object':
        return ['a mapping']
    pattern = field.get('pattern', '')
    words = next((text for part, text in TEXTS if part in pattern), 'a text')
    return ['none', words] if re.match(r'\^\(none\|', pattern) else [words]


def sentence(text):
    """Some descriptions are the beginning of a sentence that the next field continues."""
    text = text.rstrip(',')
    return text if text.endswith('.') else text + '.'


def entry(name, field, required):
    parts = []
    if 'description' in field:
        parts.append(sentence(field['description']))
    words = list(dict.fromkeys(kinds(field)))
    parts.append('It is ' + ' or '.join(words) + '.')
    if 'default' in field:
        parts.append(f'Default: {plain(field["default"])}.')
    elif required:
        parts.append('Required.')
    lines = '\n'.join(escaped(part) for part in parts)
    return f'.TP\n\\fB{escaped(name)}\\fR\n{lines}\n'


def section(title, mapping):
    text = f'.SH {escaped(title).upper()}\n'
    if 'description' in mapping:
        text += escaped(mapping['description']) + '\n'
    required = mapping.get('required', [])
    return text + ''.join(entry(name, field, name in required)
                          for name, field in mapping.get('properties', {}).items())


def page(schema, version):
    text = f'.TH LEVEE.YAML 5 "" "levee {version}" "Levee"' + HEAD
    text += section('The file', schema)
    text += ''.join(section(name, each) for name, each in schema['definitions'].items())
    return text + TAIL


if __name__ == '__main__':
    SCHEMA, VERSION, FILE = sys.argv[1:]
    pathlib.Path(FILE).write_text(page(json.loads(pathlib.Path(SCHEMA).read_text()), VERSION))
