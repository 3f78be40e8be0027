import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { sized } from '../../../../test/support/runs.ts';
import type { Fields } from '../../../../test/support/text-client.ts';
import { Kill, type Process, TimersWorld } from '../support/timers-world.ts';

const HALF_HOUR_MS = 1_800_000;
/** Steps from one death to the next: outside of CI a process dies at every third. */
const STEPS = sized(3, 1);
const WILL = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: false };
const DISCONNECT = { cmd: 'disconnect', reasonCode: 0 };
const SUBSCRIBE = {
  cmd: 'subscribe',
  messageId: 1,
  subscriptions: [
    { topic: 'news', qos: 1 },
    { topic: '$share/g/work', qos: 1 },
  ],
};

let world: TimersWorld;

beforeEach(async () => {
  world = await TimersWorld.create();
});

/** Kinds of items that stay when all clients have gone: see docs/data-model.md. */
const LASTING = new Set(['H', 'N', 'Y']);

/** Items and entries of a gone client that no TTL removes. The items of `worker`, which has not gone, are left out. */
async function debrisOf(clientId: string): Promise<string[]> {
  const left = await world.items();
  return left.flatMap((item) => {
    const kind = item.p?.S?.split('\0')[0] ?? '';
    if (LASTING.has(kind) || item.t !== undefined || item.p?.S?.endsWith('\0worker')) return [];
    const entries = Object.entries(item).filter(([name]) => name.startsWith('@'));
    // A head or a group stays, without entries.
    if (kind === 'F' || kind === 'G')
      return entries.filter(([, value]) => isStanding(value, clientId)).map(() => nameOf(item));
    return [nameOf(item)];
  });
}

/** An entry that names its connection is ignored after the connection's life. */
function isStanding({ S: entry = '[]' }: AttributeValue, clientId: string): boolean {
  const [name, , , endsAtSeconds] = JSON.parse(entry) as [string, number, number, number?];
  return name === clientId && endsAtSeconds === undefined;
}

function nameOf({ p, s }: Record<string, AttributeValue>): string {
  return `${p?.S} ${s?.S}`.replaceAll('\0', ' ');
}

/** Sixteen passes look at every session once; two more come before a session of an hour has ended. */
async function sweepAll(): Promise<void> {
  for (let run = 0; run < 21; run += 1) {
    world.time.nowMs += HALF_HOUR_MS;
    const report = await world.sweep();
    expect(report).toMatchObject({ failed: 0, isPassComplete: true });
  }
}

interface History {
  readonly name: string;
  readonly before: readonly Fields[];
  readonly killedIn: Fields;
}

const EPHEMERAL: Fields = { cmd: 'connect', clean: true };
const LASTING_HOUR: Fields = { cmd: 'connect', clean: false, properties: { sessionExpiryInterval: 3_600 } };

const LASTING_DAY: Fields = { ...LASTING_HOUR, properties: { sessionExpiryInterval: 86_400 } };

const HISTORIES = [
  { connect: EPHEMERAL, session: 'ephemeral' },
  { connect: LASTING_HOUR, session: 'persistent' },
].flatMap(({ connect, session }): History[] => [
  { name: `CONNECT, ${session}`, before: [], killedIn: connect },
  { name: `CONNECT with a will, ${session}`, before: [], killedIn: { ...connect, will: WILL } },
  { name: `SUBSCRIBE, ${session}`, before: [connect], killedIn: SUBSCRIBE },
  { name: `DISCONNECT, ${session}`, before: [connect, SUBSCRIBE], killedIn: DISCONNECT },
]);

describe.each(HISTORIES)('a process that dies at each step within $name', ({ before, killedIn }) => {
  it('leaves no item that the sweep does not delete', async () => {
    let hasStruck = true;
    let at = 1 - STEPS;
    while (hasStruck) {
      at += STEPS;
      world = await TimersWorld.create();
      const packet = (fields: Fields): Fields =>
        fields.cmd === 'connect' ? { ...connectDefaults(), ...fields } : fields;
      for (const fields of before) await world.frame(world.process(), 'c', packet(fields));
      const process = world.process({ kill: new Kill(at) });
      await world.frame(process, 'c', packet(killedIn));
      ({ hasStruck } = process.kill);
      await sweepAll();
      expect({ at, left: await debrisOf('c') }).toEqual({ at, left: [] });
    }
  }, 120_000);
});

function connectDefaults(): Fields {
  return { protocolId: 'MQTT', protocolVersion: 5, clientId: 'c', keepalive: 60 };
}

describe.each([
  { name: 'with Clean Start', connect: { ...LASTING_HOUR, clean: true } },
  { name: 'after its session has expired', connect: LASTING_HOUR },
])('a CONNECT $name that dies at each step', ({ connect }) => {
  it('leaves the items of the previous session to the next sweeps, and loses no message of a shared subscription', async () => {
    let hasStruck = true;
    let at = 1 - STEPS;
    while (hasStruck) {
      at += STEPS;
      world = await TimersWorld.create();
      await world.frame(world.process(), 'c', { ...connectDefaults(), ...LASTING_HOUR });
      await world.frame(world.process(), 'c', SUBSCRIBE);
      await world.disconnect('c');
      await world.connect('publisher');
      await world.publish('publisher', 'work', 'task');
      await world.connect('worker', LASTING_DAY);
      await world.subscribe('worker', '$share/g/work', 1);
      if (connect.clean !== true) world.time.nowMs += 3_600_000;
      const process = world.process({ kill: new Kill(at) });
      await world.frame(process, 'c-2', { ...connectDefaults(), ...connect });
      ({ hasStruck } = process.kill);
      await sweepAll();
      expect({ at, left: await debrisOf('c') }).toEqual({ at, left: [] });
      // When the sweep ended it, without a take-over, it passed on its messages as well.
      const tasks = await tasksOf(world);
      expect({ at, tasks }).toEqual({ at, tasks: ['task'] });
    }
    expect(at).toBeGreaterThan(10);
  }, 240_000);
});

/** The messages that `worker` was sent before and after it came back, each listed once. */
async function tasksOf(of: TimersWorld): Promise<string[]> {
  const waiting = await of.connect('worker-2', { ...LASTING_DAY, clientId: 'worker' });
  const texts = [...of.gateway.textsTo('worker'), ...waiting.map(({ text }) => text)];
  return [...new Set(texts.filter((text) => text !== ''))];
}

describe('a sweep', () => {
  it('corrects the number of sessions, which is sampled', async () => {
    const process: Process = world.process();
    for (let client = 0; client < 5; client += 1)
      await world.connect(`c-${client}`, { ...LASTING_HOUR }, process);
    await world.sweep();
    expect(await world.process().cloud.stores.sessions.count()).toBe(5);
  });
});
