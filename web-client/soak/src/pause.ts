import type { ClientPage } from './client-page.ts';
import { count } from './words.ts';

/** The measurements of a pause. */
export interface PauseSeen {
  /** At the end of the pause the list was the same as after the messages before it had been rendered. */
  readonly stoodStill: boolean;
  /** New messages that the view counted during the pause. */
  readonly toldOf: number;
  /** The list continued after it was resumed. */
  readonly wentOn: boolean;
}

/** The view renders a stream at most twenty times a second: messages before the click are rendered by then. */
const DRAWN_AFTER_MS = 200;

/** Pauses the messages view for as long as something takes, and resumes it. */
export async function whilePaused(client: ClientPage, work: () => Promise<void>): Promise<PauseSeen> {
  const { page } = client;
  const top = page.getByRole('grid', { name: 'Messages, newest first' }).locator('[aria-selected]').first();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.waitForTimeout(DRAWN_AFTER_MS);
  const before = await top.textContent();
  await work();
  const stoodStill = (await top.textContent()) === before;
  const told = await page.getByRole('button', { name: /new messages?$/ }).textContent();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  const wentOn = await page
    .waitForFunction((text) => document.querySelector('[aria-selected]')?.textContent !== text, before)
    .then(() => true)
    .catch(() => false);
  return { stoodStill, toldOf: Number(told?.replaceAll(/\D/g, '') ?? 0), wentOn };
}

export function pauseText({ stoodStill, toldOf, wentOn }: PauseSeen): string {
  const still = stoodStill ? 'stood still' : 'moved';
  return `${still}, told of ${count(toldOf)} new messages, ${wentOn ? 'went on' : 'did not go on'}`;
}
