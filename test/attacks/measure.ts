import { ApusProcess } from './apus-process.ts';
import { Attacker, type DoorOfClient } from './attackers.ts';
import type { MemoryAttack } from './memory-attacks.ts';

/** The attacks are measured after the process has opened its doors and compiled the code that a client needs. */
const WARM_UP_CLIENTS = 20;

export interface Measured {
  readonly growthBytes: number;
  /** The broker's answers to the attackers. */
  readonly said: string;
  /** Whether the broker lets another client in while the attackers hold on. */
  readonly isServing: boolean;
}

/**
 * Attacks a broker in a process of its own, and returns by how much the process has grown while the attackers hold on.
 */
export async function measure(program: string, attack: MemoryAttack, door: DoorOfClient): Promise<Measured> {
  const apus = await ApusProcess.start(program);
  try {
    const url = apus.urls[door];
    for (let index = 0; index < WARM_UP_CLIENTS; index += 1)
      (await Attacker.connect(door, url, `warm-up-${index}`)).leave();
    const before = await apus.residentBytes();
    const { attackers, said } = await attack.run(door, url);
    const growthBytes = (await apus.residentBytes()) - before;
    const honest = await Attacker.connect(door, url, 'honest');
    const isServing = honest.answers[0]?.[3] === 0;
    for (const attacker of [...attackers, honest]) attacker.leave();
    return { growthBytes, said, isServing };
  } finally {
    await apus.stop();
  }
}
