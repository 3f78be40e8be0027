import type { Message } from '@apus/broker';
import { messageOf } from '@apus/broker/samples';
import type { BridgesContext, TenantFilter } from '@apus/node';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RuleConfiguration } from '../../bridges/src/rules/configuration/rules.ts';
import { RuleBacklog } from '../../bridges/src/rules/rule-backlog.ts';
import { ClusterFanOut } from '../src/fan-out.ts';
import { decodeFrame, encodeFrame, type Frame, type PublishFrame } from '../src/frames.ts';
import { FullRules } from '../src/full-rules.ts';
import { GivenBack } from '../src/given-back.ts';
import { FULL_RULES_LOOKED_MS, GIVEN_BACK_BYTES_MAX, GIVEN_BACK_MS_MAX } from '../src/limits.ts';
import { RemoteRoutes } from '../src/remote-routes.ts';
import { routeOf } from '../src/route-name.ts';
import { ShareChoice } from '../src/share-choice.ts';
import { EVERYWHERE } from '../src/subscriptions.ts';
import { HandClock } from './support/hand-clock.ts';

const QUEUE_LENGTH = 100;
/** A twentieth of the queue. */
const PORTION = 5;
const RULE = { tenant: 't', name: 'slow', filter: 'up/#' } as RuleConfiguration;
const QUEUE: TenantFilter = { tenant: 't', topicFilter: 'up/#' };
const EVERYONE = [{ tenant: 't', topicFilter: EVERYWHERE, shards: 1 }];

/** All that is on its way arrives, and what it causes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

let clock: HandClock;
let wire: Wire;
let warnings: Readonly<Record<string, unknown>>[];

/** Frames between processes, in their order, as bytes. */
class Wire {
  readonly handlers = new Map<string, (from: string, frame: Frame) => Promise<void> | undefined>();
  /** For each frame: its type, or of a message its payload. */
  readonly carried: string[] = [];

  busOf(me: string) {
    const carry = (to: string, frame: Frame): Promise<void> => {
      const bytes = encodeFrame(frame);
      return Promise.resolve().then(() => {
        const arrived = decodeFrame(bytes);
        this.carried.push(`${me} ${arrived.type === 'publish' ? textOf(arrived.message) : arrived.type}`);
        // What is sent to a dead process is answered by its heir.
        return (
          this.handlers.get(to)?.(me, arrived) ?? (this.handlers.has(to) ? undefined : new Promise(() => {}))
        );
      });
    };
    return {
      send: (to: string, frame: Frame) => void carry(to, frame),
      request: carry,
      isFull: () => false,
    };
  }
}

/** The process with the rule, which is called `rules`. */
class Owner {
  readonly queue: Message[] = [];
  /** In the order in which the rule got them. */
  readonly left: string[] = [];
  readonly gaveUp: string[] = [];
  held: readonly TenantFilter[] = [];
  readonly backlog: RuleBacklog;
  readonly rules: FullRules;

  constructor(name = 'rules') {
    this.backlog = new RuleBacklog([RULE], {
      queueLengthMax: QUEUE_LENGTH,
      queueBytesMax: 1e9,
      waiting: () => ({ messages: this.queue.length, bytes: 0 }),
    } as unknown as BridgesContext);
    const bus = wire.busOf(name);
    this.rules = new FullRules({
      ...{ backlog: this.backlog, bus, clock },
      holdBack: (filters) => {
        this.held = filters;
      },
      giveUp: (process, { message }) => {
        this.gaveUp.push(textOf(message));
        return bus.request(process, { type: 'refused', messageId: message.id });
      },
    });
    wire.handlers.set(name, (from, frame) => {
      if (frame.type === 'publish') return this.rules.giveBack(from, frame) ?? this.take(frame);
      if (frame.type === 'waits') this.rules.waits(from, frame.queue, frame.left, frame.givenUp);
      return undefined;
    });
  }

  take({ message }: PublishFrame): undefined {
    this.queue.push(message);
  }

  fill(count: number): void {
    for (let index = 0; index < count; index += 1) this.queue.push(messageOf({ topic: 'up/a' }));
  }

  /** The target takes so many. */
  drain(count: number): void {
    this.left.push(...this.queue.splice(0, count).map(textOf));
    this.backlog.left();
  }
}

/** A process with publishers, each of which waits for its answer. */
class Publishers {
  readonly name: string;
  readonly fanOut: ClusterFanOut;
  readonly givenBack: GivenBack;
  readonly routes = new RemoteRoutes();
  full: readonly TenantFilter[] = [];
  readonly taken: string[] = [];
  readonly refused: string[] = [];

  constructor(name: string, owner = 'rules') {
    this.name = name;
    this.routes.change(owner, [[routeOf('t', { topicFilter: 'up/#' }), true]], []);
    const bus = wire.busOf(name);
    const log = { ...SILENT, warn: (_: string, fields = {}) => void warnings.push(fields) };
    this.givenBack = new GivenBack(bus, clock, log);
    this.fanOut = new ClusterFanOut(bus as never, this.routes, new ShareChoice(), this.givenBack);
    wire.handlers.set(name, (from, frame) => {
      if (frame.type === 'full') this.full = frame.filters;
      else this.fanOut.handle(from, frame);
      return undefined;
    });
  }

  publish(text: string, qos: 0 | 1 | 2 = 1): void {
    const message = messageOf({ topic: 'up/a', qos, payload: Buffer.from(text), id: `${this.name} ${text}` });
    this.fanOut.accept(message, EVERYONE, true);
    void Promise.resolve(this.fanOut.settled(message)).then((isTaken) =>
      (isTaken === false ? this.refused : this.taken).push(text),
    );
  }
}

const SILENT = { info() {}, warn() {}, error() {}, debug() {}, writesDebug: false };

function textOf({ payload }: Message): string {
  return Buffer.from(payload).toString();
}

function numbers(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
}

beforeEach(() => {
  clock = new HandClock();
  wire = new Wire();
  warnings = [];
});

describe('a message that a full queue of a rule has no room for', () => {
  it('waits for a limited time, and then its publisher is refused', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    await settle();
    expect([one.taken, one.refused]).toEqual([[], []]);
    clock.move(GIVEN_BACK_MS_MAX - 1);
    await settle();
    expect(one.refused).toEqual([]);
    clock.move(1);
    await settle();
    expect([one.taken, one.refused, one.givenBack.bytes]).toEqual([[], ['1'], 0]);
    expect(warnings).toMatchObject([
      { tenant: 't', filter: 'up/#', process: 'rules', lacking: 'time', count: 1 },
    ]);
    expect(owner.backlog.countsOf('t', 'up/#')).toEqual({ givenBack: 1, givenUp: 1 });
    // It does not come afterwards.
    owner.drain(QUEUE_LENGTH);
    await settle();
    expect([owner.queue, owner.held, one.full]).toEqual([[], [], []]);
  });

  it('waits within a limited number of bytes, and is refused at once beyond it', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    const half = 'x'.repeat(GIVEN_BACK_BYTES_MAX / 2 - 100);
    for (const name of ['a', 'b', 'c']) one.publish(name + half);
    await settle();
    expect(one.refused.map((text) => text[0])).toEqual(['c']);
    expect(one.givenBack.bytes).toBeLessThanOrEqual(GIVEN_BACK_BYTES_MAX);
    expect(warnings).toMatchObject([{ lacking: 'bytes', count: 1 }]);
    owner.drain(QUEUE_LENGTH);
    await settle();
    expect(one.taken.map((text) => text[0])).toEqual(['a', 'b']);
  });

  it('comes behind those before it, and is overtaken by none, when there is room for a portion at a time', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH - 6);
    for (const text of numbers(1, 30)) one.publish(text);
    await settle();
    // Newer ones that were on their way when the queue had room again.
    owner.drain(QUEUE_LENGTH - 10);
    for (const text of numbers(31, 40)) one.publish(text);
    await settle();
    for (let count = 0; count < 100; count += 1) {
      owner.drain(1);
      await settle();
    }
    expect(owner.left.filter((text) => /^\d+$/.test(text))).toEqual(numbers(1, 40));
    expect(one.taken.length).toBe(40);
    expect(one.full).toEqual([]);
  });

  it('is sent again in a bounded portion, when the queue tells that it has room', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    for (const text of numbers(1, 60)) one.publish(text);
    await settle();
    expect(owner.queue.length).toBe(QUEUE_LENGTH);
    wire.carried.length = 0;
    owner.drain(30);
    await settle();
    const portions: number[] = [];
    for (const what of wire.carried) {
      if (what === 'rules again') portions.push(0);
      else if (/^one \d+$/.test(what)) portions[portions.length - 1] = (portions.at(-1) ?? 0) + 1;
    }
    expect(Math.max(...portions)).toBe(PORTION);
    // Up to nine tenths, with the portion that reaches them. None was sent in vain.
    expect(owner.queue.length).toBeLessThanOrEqual(0.95 * QUEUE_LENGTH);
    expect(owner.queue.length).toBeGreaterThanOrEqual(0.9 * QUEUE_LENGTH);
    expect(wire.carried.filter((what) => what === 'rules later')).toEqual([]);
  });

  it('needs no clock to be sent again', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    await settle();
    owner.drain(QUEUE_LENGTH);
    await settle();
    expect(one.taken).toEqual(['1']);
    // One that expired in the queue was told by nobody.
    owner.fill(QUEUE_LENGTH);
    one.publish('2');
    await settle();
    owner.queue.length = 0;
    clock.move(FULL_RULES_LOOKED_MS);
    await settle();
    expect(one.taken).toEqual(['1', '2']);
  });

  it('has its turn beside those of other processes', async () => {
    const [owner, one, two] = [new Owner(), new Publishers('one'), new Publishers('two')];
    owner.fill(QUEUE_LENGTH);
    for (const text of numbers(1, 40)) one.publish(text);
    await settle();
    two.publish('other');
    await settle();
    owner.drain(25);
    await settle();
    expect(two.taken).toEqual(['other']);
    expect(one.taken.length).toBeLessThan(40);
  });

  it('goes before newer ones of all processes, which are refused meanwhile', async () => {
    const [owner, one, two] = [new Owner(), new Publishers('one'), new Publishers('two')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    await settle();
    expect([owner.held, one.full]).toEqual([[QUEUE], [QUEUE]]);
    owner.queue.length = 0;
    // It does not know yet that some wait, and there is room.
    two.publish('newer');
    await settle();
    expect(wire.carried.filter((what) => what === 'rules later').length).toBe(2);
    expect(owner.queue.map(textOf)).toEqual(['1', 'newer']);
    expect([owner.held, one.full, two.full]).toEqual([[], [], []]);
  });

  it('at QoS 0 is no concern of a publisher', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('0', 0);
    await settle();
    expect([one.taken, one.refused, one.givenBack.bytes]).toEqual([['0'], [], 0]);
  });

  it('does not wait for a process that died in its turn', async () => {
    const [owner, one, two] = [new Owner(), new Publishers('one'), new Publishers('two')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    two.publish('2');
    await settle();
    // It does not answer any more.
    wire.handlers.set('one', () => undefined);
    owner.drain(QUEUE_LENGTH);
    await settle();
    expect(two.taken).toEqual([]);
    owner.rules.forget('one');
    await settle();
    expect(two.taken).toEqual(['2']);
    expect(owner.held).toEqual([]);
  });
});

describe('messages for a dead process with a rule', () => {
  /** As `Relay` hands them over. */
  function inherit(heir: Owner, from: Publishers, texts: readonly string[]): Promise<void>[] {
    return texts.map((text) => {
      const message = messageOf({
        topic: 'up/a',
        qos: 1,
        payload: Buffer.from(text),
        id: `${from.name} ${text}`,
      });
      const plain = { isPlain: true, groups: [], hops: 0, mayWait: true, isAgain: false };
      const frame: PublishFrame = { type: 'publish', tenant: 't', message, ...plain };
      return Promise.resolve(heir.rules.inherit(from.name, frame, () => heir.take(frame)));
    });
  }

  it('that it has given back go to its heir, oldest first', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    for (const text of numbers(1, 3)) one.publish(text);
    await settle();
    const left = one.fanOut.forget('rules', new Set(['one 2']));
    expect(left.map(({ frame }) => textOf(frame.message))).toEqual(['1', '3']);
    await settle();
    // The second is among those that the process had not acknowledged.
    expect(one.taken).toEqual(['2']);
    for (const { resolve } of left) resolve();
    await settle();
    expect([one.taken, one.givenBack.bytes]).toEqual([['2', '1', '3'], 0]);
  });

  it('wait at the heir in their order, before newer ones', async () => {
    const [heir, one] = [new Owner('heir'), new Publishers('one', 'heir')];
    heir.fill(QUEUE_LENGTH);
    inherit(heir, one, ['1', '2', '3']);
    heir.queue.length = 94;
    one.publish('newer');
    await settle();
    for (let count = 0; count < QUEUE_LENGTH; count += 1) {
      heir.drain(1);
      await settle();
    }
    expect(heir.left.slice(-4)).toEqual(['1', '2', '3', 'newer']);
    expect(one.taken).toEqual(['newer']);
  });

  it('wait there for a limited time and within a limited number of bytes', async () => {
    const [heir, one] = [new Owner('heir'), new Publishers('one', 'heir')];
    heir.fill(QUEUE_LENGTH);
    const half = 'x'.repeat(GIVEN_BACK_BYTES_MAX / 2 - 100);
    const inherited = inherit(heir, one, [`a${half}`, `b${half}`, `c${half}`]);
    await inherited[2];
    expect(heir.gaveUp.map((text) => text[0])).toEqual(['c']);
    clock.move(GIVEN_BACK_MS_MAX - 1);
    await settle();
    expect(heir.gaveUp.length).toBe(1);
    clock.move(FULL_RULES_LOOKED_MS);
    await Promise.all(inherited);
    expect(heir.gaveUp.map((text) => text[0])).toEqual(['c', 'a', 'b']);
    expect(heir.backlog.countsOf('t', 'up/#')).toEqual({ givenBack: 3, givenUp: 3 });
    expect(heir.held).toEqual([]);
  });

  it('that find no room at the heir are refused to their publishers', async () => {
    const one = new Publishers('one', 'gone');
    one.publish('1');
    await settle();
    one.fanOut.handle('heir', { type: 'refused', messageId: 'one 1' });
    await settle();
    expect([one.taken, one.refused]).toEqual([[], []]);
  });
});
