import type { AppendOptions, Message, StreamDeclaration, StreamStore } from '@apus/broker';
import { MemoryStreams } from '@apus/store-memory';
import { GatheredAppends } from '../../src/store/streams/gathered-appends.ts';

/** Protections that a history runs without. */
export type Without =
  | 'an origin is refused'
  | 'a record is refused with the one before'
  | 'appends fail with those before'
  | 'an offset is committed when its record is stored'
  | 'the next message is handled when its stream has been asked'
  | 'messages are answered in their order'
  | 'none overtakes one that has failed'
  | undefined;

/** A process, which the history may stop for a while, or kill. */
export interface Life {
  isStopped: boolean;
  isDead: boolean;
}

interface Call {
  readonly life: Life;
  readonly isAppend: boolean;
  run(): unknown;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

interface Appending {
  readonly message: Message;
  readonly options: AppendOptions;
}

/**
 * An engine with the logs of all processes, which takes calls and answers them when the history lets it: the calls of a
 * process in their order, those of several in any order.
 */
export class SlowEngine {
  readonly log = new MemoryStreams();
  readonly #without: Without;
  readonly #calls: Call[] = [];
  readonly #answers: { readonly life: Life; deliver(): void }[] = [];
  /** The last number of a source in a topic. */
  readonly #last = new Map<string, number>();
  /** It refuses records, but no other messages. */
  isFull = false;

  constructor(without: Without) {
    this.#without = without;
  }

  storeFor(life: Life): StreamStore {
    const given: Appending[] = [];
    const appendAll = (
      tenant: string,
      stream: StreamDeclaration,
      _nowMs: number,
      indexes: readonly unknown[],
    ) =>
      this.#call(
        life,
        () => indexes.map((index) => this.#append(tenant, stream, given[index as number])),
        true,
      ) as Promise<readonly unknown[]>;
    const gathered = new GatheredAppends(appendAll);
    const append = (tenant: string, stream: StreamDeclaration, message: Message, options: AppendOptions) => {
      const index = given.push({ message, options }) - 1;
      return this.#without === 'appends fail with those before'
        ? appendAll(tenant, stream, 0, [index]).then(([answer]) => answer)
        : gathered.append(tenant, stream, options.nowMs, [index], 1);
    };
    return new Proxy<StreamStore>(this.log, {
      get: (target, name) => {
        if (name === 'append') return append;
        if (name === 'findAppended') return undefined;
        const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => this.#call(life, () => method.apply(target, args), false);
      },
    });
  }

  get isIdle(): boolean {
    return this.#calls.length + this.#answers.length === 0;
  }

  /** Takes the first call of some process. An append may fail before it has its effect, or after. */
  handle(at: number, failure?: 'before' | 'after'): void {
    const call = takeFirst(this.#calls, at, () => true);
    if (call === undefined) return;
    const { life, isAppend } = call;
    const fails = isAppend && failure !== undefined;
    const answer = fails && failure === 'before' ? undefined : call.run();
    const deliver = () => (fails ? call.reject(new Error('the engine is away')) : call.resolve(answer));
    if (!life.isDead) this.#answers.push({ life, deliver });
  }

  /** The first answer for some process arrives. */
  answer(at: number): void {
    takeFirst(this.#answers, at, ({ isStopped, isDead }) => isDead || !isStopped)?.deliver();
  }

  /** Calls that a process has made before its death may have their effect. */
  #call(life: Life, run: () => unknown, isAppend: boolean): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!life.isDead) this.#calls.push({ life, isAppend, run, resolve, reject });
    });
  }

  /** As the script of the cluster's streams. */
  #append(tenant: string, stream: StreamDeclaration, appending: Appending | undefined): unknown {
    if (appending === undefined) throw new Error('the message was not given');
    const { message, options } = appending;
    const origin = this.#without === 'an origin is refused' ? undefined : options.origin;
    const name = `${message.topic} ${options.origin?.source}`;
    const { behind } = options.origin ?? {};
    const isAlone = this.#without === 'a record is refused with the one before' || behind === undefined;
    const isBehind = isAlone || (this.#last.get(name) ?? -1) >= behind;
    if (!isBehind) return 'contended';
    if (this.isFull && options.origin !== undefined) return 'full';
    const appended = this.log.append(tenant, stream, message, { ...options, origin });
    if (typeof appended !== 'string' && options.origin !== undefined)
      this.#last.set(name, Math.max(options.origin.number, this.#last.get(name) ?? -1));
    return appended;
  }
}

/** Takes the first item of one of the processes, which are alive or dead as they are. */
function takeFirst<Item extends { readonly life: Life }>(
  items: Item[],
  at: number,
  isMeant: (life: Life) => boolean,
): Item | undefined {
  const lives = [...new Set(items.map(({ life }) => life))].filter(isMeant);
  const life = lives[at % Math.max(1, lives.length)];
  const index = items.findIndex((each) => each.life === life);
  return life === undefined ? undefined : items.splice(index, 1)[0];
}
