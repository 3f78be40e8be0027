import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's package, which .ci/run installs. */
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Why the tests in a browser are skipped here, or undefined. In CI a missing browser is a failure. */
export function whyNoBrowser(): string | undefined {
  if (PATHS.some(existsSync)) return undefined;
  if (process.env.CI !== undefined) throw new Error(`no browser at ${PATHS.join(', ')}`);
  return 'there is no Chromium on this machine';
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = PATHS.find(existsSync);
  if (executablePath === undefined) throw new Error('there is no Chromium on this machine');
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] });
}
