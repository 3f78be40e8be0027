import type { IClientOptions } from 'mqtt';
import { describe, expect, it } from 'vitest';
import { Program } from './program.ts';
import { VirtualStage } from './virtual-stage.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 300_000;

/** The grace of a lost member, plus the whole seconds and hops of a queue. */
const AFTER_GRACE_SECONDS = 8;

const stage = new VirtualStage(9, { presence: true });
const { programs } = stage;

const seconds = (count: number) => stage.seconds(count);

async function program(name: string, options: IClientOptions = {}): Promise<Program> {
  const made = new Program(stage.world.emulator, name, options);
  programs.push(made);
  await seconds(1);
  expect(made.noticed).toEqual(['connect']);
  return made;
}

/** The reason code of the acknowledgement. */
async function publish({ mqtt }: Program, topic: string, payload: string): Promise<number> {
  const refused = (error: unknown) => (error as { code?: number }).code ?? -1;
  return await stage.time.during(mqtt.publishAsync(topic, payload, { qos: 1 }).then(() => 0, refused));
}

const enter = async (each: Program, member: string, data = 'here', room = 'hall') =>
  await publish(each, `$presence/${room}/${member}`, data);

/** Granted, or refused. */
async function subscribe({ mqtt }: Program, filter: string, rh: 0 | 1 | 2 = 0): Promise<number> {
  const granted = mqtt.subscribeAsync({ [filter]: { qos: 1, rh } }).then(
    ([one]) => one?.qos ?? -1,
    () => 0x80,
  );
  return await stage.time.during(granted);
}

/** Messages received since the last call: `ann=here`, `ann=` for one that has left. */
function heard(watcher: Program): string[] {
  return watcher.received.splice(0).map((each) => {
    const [topic = '', ...payload] = each.split(' ');
    return `${topic.split('/').slice(2).join('/') || topic}=${payload.join(' ')}`;
  });
}

async function watching(filter = '$presence/hall/+', name = 'watcher'): Promise<Program> {
  const watcher = await program(name);
  expect(await subscribe(watcher, filter)).toBeLessThanOrEqual(1);
  await seconds(1);
  return watcher;
}

describe('a room of a deployment', { timeout: TIMEOUT_MS }, () => {
  it('is listed to a new watcher, who is then told of its changes', async () => {
    await stage.start();
    const [ann, bob] = [await program('ann'), await program('bob')];
    expect(await enter(ann, 'ann')).toBe(0);
    const watcher = await watching();
    expect(heard(watcher)).toEqual(['ann=here']);
    await enter(bob, 'bob');
    await enter(ann, 'ann', 'typing');
    await enter(ann, 'ann', 'typing');
    await enter(bob, 'bob', '');
    await seconds(1);
    expect(heard(watcher)).toEqual(['bob=here', 'ann=typing', 'bob=']);
  });

  it('is left by a client that is lost, after the grace and once', async () => {
    await stage.start({ resumeSeconds: 0 });
    const watcher = await watching();
    const ann = await program('ann', { reconnectPeriod: 0 });
    await enter(ann, 'ann');
    heard(watcher);
    stage.world.emulator.cutConnection(ann.connectionId);
    await seconds(4);
    expect(heard(watcher)).toEqual([]);
    await seconds(AFTER_GRACE_SECONDS);
    expect(heard(watcher)).toEqual(['ann=']);
    await seconds(1_500);
    expect(heard(watcher)).toEqual([]);
  });

  it('does not change when a client is resumed, moves, or joins again in another session', async () => {
    await stage.start();
    const watcher = await watching();
    const ann = await program('ann');
    const bob = await program('bob', { reconnectPeriod: 0 });
    await enter(ann, 'ann');
    await enter(bob, 'bob');
    heard(watcher);
    stage.world.emulator.cutConnection(ann.connectionId);
    const again = await program('bob');
    await enter(again, 'bob');
    await seconds(60);
    expect(ann.told('resumed')).toBe(1);
    expect(heard(watcher).filter((each) => each.endsWith('='))).toEqual([]);
    expect(heard(await watching('$presence/hall/+', 'other')).sort()).toEqual(['ann=here', 'bob=here']);
  });

  it('lets a client that returns too late connect anew, after it was removed from its rooms', async () => {
    await stage.start();
    const watcher = await watching();
    const ann = await program('ann');
    await enter(ann, 'ann');
    heard(watcher);
    ann.isOffline = true;
    stage.world.emulator.cutConnection(ann.connectionId);
    await seconds(20);
    expect(heard(watcher)).toEqual(['ann=']);
    ann.isOffline = false;
    await seconds(180);
    expect(ann.told('resumed')).toBe(0);
    expect(ann.noticed.filter((each) => each === 'connect')).toHaveLength(2);
    expect(await enter(ann, 'ann')).toBe(0);
    await seconds(1);
    expect(heard(watcher)).toEqual(['ann=here']);
  });

  it('is left by a client whose $disconnect never comes, when its connection is found dead', async () => {
    await stage.start();
    const watcher = await watching();
    const ann = await program('ann', { reconnectPeriod: 0, keepalive: 0 });
    await enter(ann, 'ann');
    heard(watcher);
    ann.isOffline = true;
    stage.world.emulator.loseConnection(ann.connectionId, true);
    await seconds(30 * 60);
    expect(heard(watcher)).toEqual(['ann=']);
  });

  it('publishes its number of members within a second or two', async () => {
    await stage.start();
    const watcher = await watching('$occupancy/hall');
    expect(heard(watcher)).toEqual(['$occupancy/hall=0']);
    const [ann, bob] = [await program('ann'), await program('bob')];
    await enter(ann, 'ann');
    await enter(bob, 'bob');
    await seconds(3);
    expect(heard(watcher).at(-1)).toBe('$occupancy/hall=2');
    bob.mqtt.end();
    await seconds(4);
    expect(heard(watcher)).toEqual(['$occupancy/hall=1']);
  });

  it('tells its changes in ticks, merged, where more than a hundred clients watch it', async () => {
    await stage.start();
    const watchers: Program[] = [];
    for (let index = 0; index < 101; index += 1)
      watchers.push(await watching('$presence/hall/+', `watcher-${index}`));
    const [ann, bob, cy] = [await program('ann'), await program('bob'), await program('cy')];
    await enter(cy, 'cy');
    await seconds(4);
    for (const each of watchers) expect(heard(each)).toEqual(['cy=here']);
    await Promise.all([
      enter(ann, 'ann', '1').then(() => enter(ann, 'ann', '2')),
      enter(bob, 'bob').then(() => enter(bob, 'bob', '')),
    ]);
    expect(watchers.flatMap(heard)).toEqual([]);
    await seconds(4);
    for (const each of watchers) expect(heard(each)).toEqual(['ann=2']);
    cy.mqtt.end();
    await seconds(4);
    for (const each of watchers) expect(heard(each)).toEqual(['cy=']);
    await seconds(60);
    expect(watchers.flatMap(heard)).toEqual([]);
  });
});

describe('a room of a deployment, attacked', { timeout: TIMEOUT_MS }, () => {
  it('lets a client join sixteen rooms, and refuses more with a reason', async () => {
    await stage.start();
    const greedy = await program('greedy');
    const codes: number[] = [];
    for (let index = 0; index < 20; index += 1)
      codes.push(await enter(greedy, 'me', 'here', `room-${index}`));
    expect(codes).toEqual([...Array(16).fill(0), ...Array(4).fill(0x97)]);
  });

  it('has one state after a loop of joins and leaves', async () => {
    await stage.start();
    const watcher = await watching();
    const loop = await program('loop');
    for (let round = 0; round < 30; round += 1) await enter(loop, 'me', round % 2 === 0 ? 'here' : '');
    await seconds(2);
    expect(heard(watcher)).toHaveLength(30);
    expect(heard(await watching('$presence/hall/+', 'other'))).toEqual([]);
    expect(await enter(loop, 'me')).toBe(0);
  });
});
