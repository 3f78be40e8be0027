import type { FanOut, Message, MessageId, ShareName, WideFilter } from '@apus/broker';
import type { Bus } from './bus.ts';
import { encodeFrame, type PublishFrame } from './frames.ts';
import type { RemoteRoutes } from './remote-routes.ts';
import { groupedFilter, parseGrouped } from './route-name.ts';
import type { ShareChoice } from './share-choice.ts';
import { EVERYWHERE } from './subscriptions.ts';

/** The work of one process with a message. */
interface Part {
  isPlain: boolean;
  readonly groups: string[];
}

interface Handed {
  readonly tenant: string;
  readonly parts: ReadonlyMap<string, Part>;
  readonly done: Promise<void>;
}

interface GivenBack {
  readonly process: string;
  /** Settles when the process has room again, or is dead. */
  readonly room: Promise<void>;
}

/** Hands messages to the processes that have subscribers for them: each message once for each process. */
export class ClusterFanOut implements FanOut {
  readonly #bus: Bus;
  readonly #routes: RemoteRoutes;
  readonly #choice: ShareChoice;
  readonly #settling = new WeakMap<Message, Handed>();
  /** Messages that a process had no room for, by their ids. */
  readonly #givenBack = new Map<MessageId, GivenBack>();
  /** By process: called when it has room again, or is dead. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(bus: Bus, routes: RemoteRoutes, choice: ShareChoice) {
    this.#bus = bus;
    this.#routes = routes;
    this.#choice = choice;
  }

  accept(message: Message, filters: readonly WideFilter[], isAnswered = false): boolean {
    const tenant = filters[0]?.tenant ?? '';
    const parts = this.#partsOf(tenant, message.topic, filters);
    for (const process of parts.keys()) if (this.#bus.isFull(process)) return false;
    this.#hand(tenant, message, parts, isAnswered);
    return true;
  }

  async settled(message: Message): Promise<void> {
    const handed = this.#settling.get(message);
    if (handed === undefined) return;
    await handed.done;
    for (let back = this.#takeBack(message); back !== undefined; back = this.#takeBack(message)) {
      await back.room;
      await this.#sendAgain(handed, message, back.process);
    }
  }

  /** The process had no room for the message. */
  gaveBack(process: string, messageId: MessageId): void {
    const room = new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(process);
      if (waiting === undefined) this.#waiting.set(process, [resolve]);
      else waiting.push(resolve);
    });
    this.#givenBack.set(messageId, { process, room });
  }

  /** The process has room again, or is dead. */
  mayHaveRoom(process: string): void {
    const waiting = this.#waiting.get(process) ?? [];
    this.#waiting.delete(process);
    for (const resolve of waiting) resolve();
  }

  /** Asked before a message of a stream has its place. Members of share groups are chosen behind that. */
  hasRoom(filters: readonly WideFilter[], { topic }: Message): boolean {
    const tenant = filters[0]?.tenant ?? '';
    for (const { plain } of this.#routes.match(tenant, topic))
      for (const process of plain) if (this.#bus.isFull(process)) return false;
    return true;
  }

  take(message: Message, filters: readonly WideFilter[]): void {
    const tenant = filters[0]?.tenant ?? '';
    this.#hand(tenant, message, this.#partsOf(tenant, message.topic, filters), false);
  }

  passOn(tenant: string, message: Message, share: ShareName): Promise<void> | undefined {
    return this.handOn({ tenant, message, hops: 0 }, [groupedFilter(share)]);
  }

  /** Hands a message for share groups on, whose members here are gone. Settles when other members have it. */
  handOn(
    { tenant, message, hops }: Pick<PublishFrame, 'tenant' | 'message' | 'hops'>,
    groups: readonly string[],
  ): Promise<void> | undefined {
    const filters = groups.map((topicFilter) => ({ tenant, topicFilter, shards: 1 }));
    return this.#send(tenant, message, this.#partsOf(tenant, message.topic, filters), hops + 1);
  }

  #hand(tenant: string, message: Message, parts: ReadonlyMap<string, Part>, isAnswered: boolean): void {
    const done = this.#send(tenant, message, parts, 0, isAnswered);
    // At QoS 0 no publisher waits.
    if (done !== undefined && message.qos > 0) this.#settling.set(message, { tenant, parts, done });
  }

  #takeBack({ id }: Message): GivenBack | undefined {
    const back = this.#givenBack.get(id);
    this.#givenBack.delete(id);
    return back;
  }

  /** The sessions of a dead process are at another one by now: any of those that have subscribers. */
  async #sendAgain({ tenant, parts }: Handed, message: Message, process: string): Promise<void> {
    const part = parts.get(process);
    const filters = [EVERYWHERE, ...(part?.groups ?? [])].map((topicFilter) => ({
      tenant,
      topicFilter,
      shards: 1,
    }));
    const now = this.#partsOf(tenant, message.topic, filters);
    const isThere = part !== undefined && now.has(process);
    await this.#send(tenant, message, isThere ? new Map([[process, part]]) : now, 0, true);
  }

  #send(
    tenant: string,
    message: Message,
    parts: ReadonlyMap<string, Part>,
    hops: number,
    mayWait = false,
  ): Promise<void> | undefined {
    const sent: Promise<void>[] = [];
    let plain: Buffer | undefined;
    for (const [process, { isPlain, groups }] of parts) {
      const frame: PublishFrame = { type: 'publish', tenant, message, isPlain, groups, hops, mayWait };
      // Most messages go to all of their processes in the same form.
      if (groups.length === 0) plain ??= encodeFrame(frame);
      sent.push(this.#bus.request(process, frame, groups.length === 0 ? plain : undefined));
    }
    if (sent.length < 2) return sent[0];
    return Promise.all(sent).then(() => {});
  }

  #partsOf(tenant: string, topic: string, filters: readonly WideFilter[]): Map<string, Part> {
    const parts = new Map<string, Part>();
    const partOf = (process: string): Part => {
      let part = parts.get(process);
      if (part === undefined) {
        part = { isPlain: false, groups: [] };
        parts.set(process, part);
      }
      return part;
    };
    for (const { topicFilter } of filters) {
      if (topicFilter === EVERYWHERE) {
        for (const { plain } of this.#routes.match(tenant, topic))
          for (const process of plain) partOf(process).isPlain = true;
        continue;
      }
      const name = parseGrouped(topicFilter);
      const processes = this.#routes.find(tenant, name.topicFilter)?.groups.get(name.shareGroup ?? '');
      const process = processes && this.#choice.choose(tenant, name, processes);
      if (process !== undefined) partOf(process).groups.push(topicFilter);
    }
    return parts;
  }
}
