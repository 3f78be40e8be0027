// The process of the malicious identity: it takes one attack after another, at both doors at a time.
import { setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { ATTACKS } from './attacks.ts';
import type { Target } from './raw-client.ts';

/** The process is told once. */
export interface Orders {
  readonly targets: readonly Target[];
  readonly victims: readonly string[];
  readonly attackSeconds: number;
  /** Only attacks whose names hold this text; empty: all of them. */
  readonly attack: string;
}

/** The process tells which attack begins. */
export interface Beginning {
  readonly attack: string;
}

// The machine is shared with the clients that it is measured by.
const PRIORITY_LOWEST = 19;
/** The broker cuts connections meanwhile: they count for the attack that opened them. */
const PAUSE_MS = 500;

process.once('message', (orders: Orders) => void attack(orders));
process.once('disconnect', () => process.exit());

async function attack({ targets, victims, attackSeconds, attack: text }: Orders): Promise<void> {
  const attacks = ATTACKS.filter(({ name }) => name.includes(text));
  setPriority(PRIORITY_LOWEST);
  for (let turn = 0; ; turn += 1) {
    const next = attacks[turn % attacks.length];
    if (next === undefined) return;
    process.send?.({ attack: next.name } satisfies Beginning);
    const stops = targets.map((target) => next.start(target, victims));
    await wait(attackSeconds * 1_000);
    for (const stop of stops) stop();
    await wait(PAUSE_MS);
  }
}
