import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/**
 * Debian's packages. .ci/run installs the headless shell, which draws no window around a page: a test takes a third less
 * of the processor there. `APUS_CHROMIUM=PATH` tests in another one.
 */
const INSTALLED = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const PATHS = process.env.APUS_CHROMIUM === undefined ? INSTALLED : [process.env.APUS_CHROMIUM];

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

/** The reason why the tests in a browser are skipped here, or undefined. In CI a missing browser is a failure. */
export function whyNoBrowser(): string | undefined {
  if (PATHS.some(existsSync)) return undefined;
  if (process.env.CI !== undefined) throw new Error(`no browser at ${PATHS.join(', ')}`);
  return 'there is no Chromium on this machine';
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = PATHS.find(existsSync);
  if (executablePath === undefined) throw new Error('there is no Chromium on this machine');
  return await chromium.launch({ executablePath, args: ARGS });
}
