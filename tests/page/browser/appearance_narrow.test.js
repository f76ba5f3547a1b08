// SPDX-License-Identifier: Apache-2.0
// How the page looks on a narrow screen.
import {testAppearance} from '../appearance.js';
import {useBrowser} from '../harness.js';

useBrowser();
testAppearance('narrow', ['storm', 'guarded', 'many', 'hostile', 'empty']);
