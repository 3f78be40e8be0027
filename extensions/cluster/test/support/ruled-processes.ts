import type { Message } from '@apus/broker';
import { messageOf } from '@apus/broker/samples';
import type { BridgesContext, TenantFilter } from '@apus/node';
import type { RuleConfiguration } from '../../../bridges/src/rules/configuration/rules.ts';
import { RuleBacklog } from '../../../bridges/src/rules/rule-backlog.ts';
import { ClusterFanOut } from '../../src/fan-out.ts';
import { decodeFrame, encodeFrame, type Frame, type PublishFrame } from '../../src/frames.ts';
import { FullRules } from '../../src/full-rules.ts';
import { GivenBack } from '../../src/given-back.ts';
import { RemoteRoutes } from '../../src/remote-routes.ts';
import { routeOf } from '../../src/route-name.ts';
import { ShareChoice } from '../../src/share-choice.ts';
import { EVERYWHERE } from '../../src/subscriptions.ts';
import { HandClock } from './hand-clock.ts';

export const QUEUE_LENGTH = 100;
const RULE = { tenant: 't', name: 'slow', filter: 'up/#' } as RuleConfiguration;
export const QUEUE: TenantFilter = { tenant: 't', topicFilter: 'up/#' };
const EVERYONE = [{ tenant: 't', topicFilter: EVERYWHERE, shards: 1 }];
const SILENT = { info() {}, warn() {}, error() {}, debug() {}, writesDebug: false };

/** All that is on its way arrives, and what it causes. */
export async function handleAll(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Everything that the processes share, anew for each test. */
export const stage = {
  clock: new HandClock(),
  wire: undefined as unknown as Wire,
  warnings: [] as Readonly<Record<string, unknown>>[],
  begin(): void {
    stage.clock = new HandClock();
    stage.wire = new Wire();
    stage.warnings = [];
  },
};

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
        // Its heir answers messages to a dead process.
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
export class Owner {
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
    const bus = stage.wire.busOf(name);
    this.rules = new FullRules({
      ...{ backlog: this.backlog, bus, clock: stage.clock },
      holdBack: (filters) => {
        this.held = filters;
      },
      giveUp: (process, { message }) => {
        this.gaveUp.push(textOf(message));
        return bus.request(process, { type: 'refused', messageId: message.id });
      },
    });
    stage.wire.handlers.set(name, (from, frame) => {
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
export class Publishers {
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
    const bus = stage.wire.busOf(name);
    const log = { ...SILENT, warn: (_: string, fields = {}) => void stage.warnings.push(fields) };
    this.givenBack = new GivenBack(bus, stage.clock, log);
    this.fanOut = new ClusterFanOut(bus as never, this.routes, new ShareChoice(), this.givenBack);
    stage.wire.handlers.set(name, (from, frame) => {
      if (frame.type === 'full') this.full = frame.filters;
      else this.fanOut.handle(from, frame);
      return undefined;
    });
  }

  publish(text: string, qos: 0 | 1 | 2 = 1): void {
    const message = messageOf({ topic: 'up/a', qos, payload: Buffer.from(text), id: `${this.name} ${text}` });
    this.fanOut.accept(message, EVERYONE, true);
    void Promise.resolve(this.fanOut.confirmed(message)).then((isTaken) =>
      (isTaken === false ? this.refused : this.taken).push(text),
    );
  }
}

export function textOf({ payload }: Message): string {
  return Buffer.from(payload).toString();
}
