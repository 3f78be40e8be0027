import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { needs, type Skip } from '../support/skips.ts';

/**
 * Names of Debian's packages and others. .ci/run installs the headless shell, which draws no window around a page: a test
 * takes a third less of the processor there. `APUS_CHROMIUM=PATH` tests in another one.
 */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const FOLDERS = (process.env.PATH ?? '').split(delimiter);
const PATH = [
  process.env.APUS_CHROMIUM ?? NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))),
]
  .flat()
  .find(existsSync);

/**
 * A test reads a page once: to compile its hot functions well takes a sixth of the processor's time, and saves less. One
 * of the two optimising compilers alone costs more than both or none. The other processes of a run keep the processors
 * busy, so that helpers of the garbage collector and a process that draws only add to the work: a tenth.
 */
const ARGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--in-process-gpu',
  '--js-flags=--no-maglev,--no-opt,--single-threaded-gc',
];

/** Options of `describe` for tests in a browser. In CI a missing browser is a failure. */
export function needsBrowser(): Skip {
  if (PATH === undefined && process.env.CI !== undefined) throw new Error(`no browser: ${NAMES.join(', ')}`);
  return needs('browser', PATH);
}

export async function launchChromium(): Promise<Browser> {
  if (PATH === undefined) throw new Error('there is no Chromium on this machine');
  return await chromium.launch({ executablePath: PATH, args: ARGS });
}
