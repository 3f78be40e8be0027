import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';

const PORTAL = fileURLToPath(new URL('../../../examples/portal/', import.meta.url));

/** `apus serve` with the topics of the example. */
export const EXAMPLE_FLAGS = ['--topics', `${PORTAL}topics.json`, '--streams', `${PORTAL}streams.json`];

/** The address of a topic on the page. */
export function portalUrl(pageUrl: string, topic = ''): string {
  return `${pageUrl}portal/#/${topic.split('/').map(encodeURIComponent).join('/')}`;
}

/** A text with a copy button, by its name. */
export function codeOf(page: Page, name: string): Locator {
  return page.getByRole('figure', { name, exact: true }).locator('code');
}
