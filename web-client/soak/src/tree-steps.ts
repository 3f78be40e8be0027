import { setTimeout as delay } from 'node:timers/promises';
import type { ClientPage } from './client-page.ts';
import { type Act, painted } from './painted.ts';
import { countOver, highest, median, percentile } from './statistics.ts';
import { FROZEN_MS } from './verdict.ts';
import { count, mebibytes, milliseconds } from './words.ts';

/** How often each action is repeated; the report has the median and the longest. */
const REPEATS = 5;

const SCROLL_SECONDS = 5;

const WAIT_MS = 300_000;

/** The numbers of a step, and its problems. */
export interface Step {
  readonly name: string;
  readonly text: string;
  readonly problems: readonly string[];
}

/** The frames since the probe's last read. */
export async function framesSince(client: ClientPage): Promise<string> {
  const { frames, longTasks } = await client.drain();
  return `longest frame ${milliseconds(highest(frames))}, 99th percentile ${milliseconds(percentile(frames, 0.99))}, tasks over ${FROZEN_MS} ms: ${countOver(longTasks, FROZEN_MS)}`;
}

export async function memoryText(client: ClientPage): Promise<string> {
  const heapBytes = await client.heapBytes();
  const residentBytes = client.residentBytes() ?? 0;
  await client.drain();
  return `heap ${mebibytes(heapBytes)}, renderer process ${mebibytes(residentBytes)}`;
}

/** Waits until the tree's own count has this value. */
export async function untilCount(client: ClientPage, text: string): Promise<void> {
  const shown = client.page.getByTestId('topic-count').getByText(text, { exact: true });
  await shown.waitFor({ timeout: WAIT_MS });
}

/** Does and undoes an action several times, and returns how long doing it takes. */
export async function repeated(client: ClientPage, name: string, act: Act, undo: Act): Promise<Step> {
  const times: number[] = [];
  for (let turn = 0; turn < REPEATS; turn += 1) {
    times.push(await painted(client, act));
    await painted(client, undo);
  }
  const longest = highest(times);
  return {
    name,
    text: `${milliseconds(median(times))} to be seen, at most ${milliseconds(longest)}`,
    problems: longest > FROZEN_MS ? [`${name} took ${milliseconds(longest)}`] : [],
  };
}

/** Searches, and checks the results. */
export async function searched(
  client: ClientPage,
  text: string,
  found: number,
  total: number,
): Promise<Step> {
  const step = await repeated(
    client,
    `search “${text}”`,
    { type: 'search', text },
    { type: 'search', text: '' },
  );
  await painted(client, { type: 'search', text });
  await untilCount(client, `${count(found)} of ${count(total)} topics`);
  await painted(client, { type: 'search', text: '' });
  await untilCount(client, `${count(total)} topics`);
  return { ...step, text: `${step.text}; ${count(found)} found` };
}

/** Scrolls with the wheel all the time. */
export async function scrolled(client: ClientPage): Promise<string> {
  await client.page.mouse.move(300, 400);
  await client.drain();
  const until = performance.now() + SCROLL_SECONDS * 1_000;
  while (performance.now() < until) {
    await client.page.mouse.wheel(0, 900);
    await delay(30);
  }
  return await framesSince(client);
}
