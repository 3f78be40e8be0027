// The process of the malicious identity. It runs the attacks that it is told, at both doors at a time.
import { setPriority } from 'node:os';
import { ATTACKS } from './attacks.ts';
import type { Target } from './raw-client.ts';

/** The message of the parent: the attack from now on. */
export interface Order {
  readonly targets: readonly Target[];
  readonly victims: readonly string[];
  /** The name of an attack. Undefined: no attack. */
  readonly attack: string | undefined;
}

// The machine also runs the clients that measure the attack.
const PRIORITY_LOWEST = 19;
let stops: readonly (() => void)[] = [];

process.on('message', ({ targets, victims, attack }: Order) => {
  for (const stop of stops) stop();
  const next = ATTACKS.find(({ name }) => name === attack);
  stops = next === undefined ? [] : targets.map((target) => next.start(target, victims));
});
process.once('disconnect', () => process.exit());
setPriority(PRIORITY_LOWEST);
