// SPDX-License-Identifier: Apache-2.0
// The files that are served, and that they ask for nothing from elsewhere.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {basename} from 'node:path';
import test from 'node:test';

import {PAGE, pageFiles} from '../stub.js';

const ownFiles = readdirSync(PAGE).filter((name) => /\.(html|css|js|svg)$/.test(name));
const textOf = (name) => readFileSync(PAGE + name, 'utf8');

test('every file of the folder is served', () => {
  const served = pageFiles().filter(({own}) => own).map(({file}) => basename(file));
  assert.deepEqual(served.sort(), ownFiles.sort());
});

test('every file that the page and its modules load is served', () => {
  const paths = pageFiles().map(({path}) => path);
  const html = textOf('index.html');
  for (const [, path] of html.matchAll(/(?:<link [^>]*href|<script [^>]*src|<img [^>]*src)="([^"]+)"/g)) {
    assert.ok(paths.includes(path), path);
  }
  for (const name of ownFiles.filter((each) => each.endsWith('.js'))) {
    for (const [, path] of textOf(name).matchAll(/ from '\.(\/[^']+)'/g)) {
      assert.ok(paths.includes(path), `${name}: ${path}`);
    }
  }
});

test('nothing is loaded from elsewhere, and nothing but a state is asked for', () => {
  for (const name of ownFiles) {
    const text = textOf(name).replaceAll('http://www.w3.org/2000/svg', '');
    assert.doesNotMatch(text, /\/\/\w|url\(|@import|XMLHttpRequest|WebSocket|EventSource/, name);
    for (const [, what] of text.matchAll(/\bfetch\((.*)/g)) {
      assert.ok(what.startsWith('`/api/v1/state?since='), `${name}: ${what}`);
    }
  }
});

test('no script or style is inline, and no text becomes markup', () => {
  const html = textOf('index.html');
  assert.doesNotMatch(html, /<script(?![^>]*src=)|<style| style=| on[a-z]+=/);
  for (const name of ownFiles.filter((each) => each.endsWith('.js'))) {
    assert.doesNotMatch(textOf(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/,
                        name);
  }
});

test('Dygraphs comes with its licence', () => {
  const licence = pageFiles().find(({path}) => path === '/licenses.txt');
  assert.match(readFileSync(licence.file, 'utf8'),
               /dygraphs is MIT-licenced[^]*Dan Vanderkam[^]*this permission notice/);
});
