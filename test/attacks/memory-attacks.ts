import { Attacker, type DoorOfClient } from './attackers.ts';

export const DOORS: readonly DoorOfClient[] = ['node', 'gateway'];

const KILOBYTES = 1_000;
const QUOTA_EXCEEDED = 0x97;
/**
 * Attackers at a time. Twenty that never finish 8 MB already show in the memory; from forty on it is plain whether
 * there is a bound.
 */
const CONNECTIONS = 40;

/** The largest packet and the largest message of each door. Those of the gateway door are AWS's limits. */
const SIZES = {
  node: {
    filtersPerPacket: 4_000,
    retainedBytes: 1_000 * KILOBYTES,
    retained: 250,
    unfinishedBytes: 8_000 * KILOBYTES,
  },
  gateway: {
    filtersPerPacket: 100,
    retainedBytes: 23 * KILOBYTES,
    retained: 1_000,
    unfinishedBytes: 120 * KILOBYTES,
  },
} as const;

/** The clients of an attack, which keep their connections open, and the answers of the broker. */
export interface Attacked {
  readonly attackers: readonly Attacker[];
  readonly said: string;
}

export interface MemoryAttack {
  readonly name: string;
  /** Bytes that the process may grow by. */
  readonly growthBytesMax: number;
  run(door: DoorOfClient, url: string): Promise<Attacked>;
}

/** Attacks that took hundreds of megabytes of an earlier node. */
export const MEMORY_ATTACKS: readonly MemoryAttack[] = [
  { name: '4,000 filters of 200 levels', growthBytesMax: 60_000 * KILOBYTES, run: manyLevels },
  { name: 'retained messages', growthBytesMax: 150_000 * KILOBYTES, run: largeRetained },
  {
    name: '40 connections that never finish a message',
    growthBytesMax: 220_000 * KILOBYTES,
    run: neverFinished,
  },
  {
    // 40 MB on Node.js 20. The collector of Node.js 24 lets 20 MB more of dead buffers lie, with 400 connections too.
    name: '40 connections that send a message before CONNACK',
    growthBytesMax: 80_000 * KILOBYTES,
    run: beforeConnack,
  },
];

/** 823 KB of SUBSCRIBE, in one packet where the door takes it. */
async function manyLevels(door: DoorOfClient, url: string): Promise<Attacked> {
  const attacker = await Attacker.connect(door, url, 'filters');
  const { filtersPerPacket } = SIZES[door];
  const filters = Array.from(
    { length: 4_000 },
    (_, index) => `${String(index).padStart(4, '0')}${'/'.repeat(199)}#`,
  );
  let packets = 0;
  for (let at = 0; at < filters.length && !attacker.isClosed; at += filtersPerPacket) {
    packets += 1;
    const subscriptions = filters.slice(at, at + filtersPerPacket).map((topic) => ({ topic, qos: 0 }));
    attacker.send({ cmd: 'subscribe', messageId: packets, subscriptions });
    await attacker.answered(packets + 1);
  }
  const refused = count(attacker.answers.slice(1), QUOTA_EXCEEDED);
  return { attackers: [attacker], said: `${refused} of 4,000 are refused with 0x97; ${closed([attacker])}` };
}

async function largeRetained(door: DoorOfClient, url: string): Promise<Attacked> {
  const attacker = await Attacker.connect(door, url, 'retains');
  const { retainedBytes, retained } = SIZES[door];
  const payload = Buffer.alloc(retainedBytes, 'x');
  for (let index = 1; index <= retained && !attacker.isClosed; index += 1) {
    attacker.send({
      cmd: 'publish',
      topic: `kept/${index}`,
      payload,
      qos: 1,
      retain: true,
      messageId: index,
    });
    await attacker.answered(index + 1);
  }
  const refused = attacker.answers.slice(1).filter((puback) => puback[4] === QUOTA_EXCEEDED).length;
  return {
    attackers: [attacker],
    said: `${refused} of ${retained} are refused with 0x97; ${closed([attacker])}`,
  };
}

async function neverFinished(door: DoorOfClient, url: string): Promise<Attacked> {
  const attackers = [];
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const attacker = await Attacker.connect(door, url, `unfinished-${index}`);
    attackers.push(attacker);
    await attacker.begin(SIZES[door].unfinishedBytes, 30_000);
  }
  return { attackers, said: closed(attackers) };
}

async function beforeConnack(door: DoorOfClient, url: string): Promise<Attacked> {
  const attackers = [];
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const attacker = await Attacker.open(door, url);
    attackers.push(attacker);
    await attacker.begin(SIZES[door].unfinishedBytes, 30_000);
  }
  return { attackers, said: closed(attackers) };
}

function closed(attackers: readonly Attacker[]): string {
  return `${attackers.filter(({ isClosed }) => isClosed).length} of ${attackers.length} connections are ended`;
}

function count(answers: readonly Buffer[], reasonCode: number): number {
  return answers.reduce((sum, bytes) => sum + bytes.filter((byte) => byte === reasonCode).length, 0);
}
