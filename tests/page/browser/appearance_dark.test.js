// SPDX-License-Identifier: Apache-2.0
// How the page looks in dark colours.
import {testAppearance} from '../appearance.js';
import {useBrowser} from '../harness.js';

useBrowser();
testAppearance('dark', ['calm', 'storm', 'guarded', 'troubled']);
