import type { Page } from 'playwright-core';

/**
 * The factor by which the thread of each page is slowed down. `APUS_BROWSER_SLOWDOWN=6 npx vitest run test/browser`
 * shows which test looks at a page before it is ready.
 */
const FACTOR = Number(process.env.APUS_BROWSER_SLOWDOWN ?? 1);
if (!(FACTOR >= 1))
  throw new Error('APUS_BROWSER_SLOWDOWN is a number from 1, by which Chromium is slowed down');

export async function slowDown(page: Page): Promise<void> {
  if (FACTOR === 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: FACTOR });
}
