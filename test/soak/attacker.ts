// The process of the malicious identity: it attacks both doors at a time, as it is told.
import { setPriority } from 'node:os';
import { ATTACKS } from './attacks.ts';
import type { Target } from './raw-client.ts';

/** Said to the process each time: what it does from now on. */
export interface Order {
  readonly targets: readonly Target[];
  readonly victims: readonly string[];
  /** The name of an attack; undefined: none. */
  readonly attack: string | undefined;
}

// The machine is shared with the clients that it is measured by.
const PRIORITY_LOWEST = 19;
let stops: readonly (() => void)[] = [];

process.on('message', ({ targets, victims, attack }: Order) => {
  for (const stop of stops) stop();
  const next = ATTACKS.find(({ name }) => name === attack);
  stops = next === undefined ? [] : targets.map((target) => next.start(target, victims));
});
process.once('disconnect', () => process.exit());
setPriority(PRIORITY_LOWEST);
