// Publishes a steady stream, in a process of its own so that its work is not that of the page.
import * as mqtt from 'mqtt';

/** The options on its command line, as JSON. */
export interface GeneratorOptions {
  readonly url: string;
  /** Messages a second. */
  readonly rate: number;
  readonly topics: number;
}

export type GeneratorCommand = 'start' | 'stop';

export type GeneratorReport =
  | { readonly type: 'ready' }
  | { readonly type: 'stopped'; readonly sent: number; readonly elapsedMs: number };

/** The interval in which due messages are published. */
const TICK_MS = 4;

/** After a pause of the process it catches up on no more than this at once. */
const BEHIND_MS_MAX = 200;

/** Reports to its parent process, if it has one. */
function report(text: GeneratorReport): void {
  process.send?.(text);
}

/** The topic's own count, the time, and a wave for lists and charts. */
function payloadOf(number: number, topics: number): string {
  return JSON.stringify({
    seq: Math.floor(number / topics),
    ts: Date.now(),
    value: Math.round(Math.sin(number / 2_000) * 1_000) / 10,
    unit: '°C',
    healthy: number % 97 !== 0,
  });
}

async function main({ url, rate, topics }: GeneratorOptions): Promise<void> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5, clientId: 'soak-generator' });
  let timer: ReturnType<typeof setInterval> | undefined;
  let beganAtMs = 0;
  let sent = 0;
  let due = 0;
  const publishDue = (): void => {
    const target = Math.floor(((performance.now() - beganAtMs) * rate) / 1_000);
    due = Math.max(due, target - Math.floor((BEHIND_MS_MAX * rate) / 1_000));
    for (; due < target; due += 1) {
      client.publish(`soak/${sent % topics}/state`, payloadOf(sent, topics));
      sent += 1;
    }
  };
  process.on('message', (command: GeneratorCommand) => {
    if (command === 'start') {
      beganAtMs = performance.now();
      timer = setInterval(publishDue, TICK_MS);
      return;
    }
    clearInterval(timer);
    const elapsedMs = performance.now() - beganAtMs;
    // Ends when all of it is written.
    void client.endAsync().then(() => {
      report({ type: 'stopped', sent, elapsedMs });
      process.disconnect();
    });
  });
  // The parent has ended and can no longer stop it.
  process.once('disconnect', () => process.exit());
  report({ type: 'ready' });
}

await main(JSON.parse(process.argv[2] ?? '{}') as GeneratorOptions);
