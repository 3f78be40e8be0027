import type { DeliveryPayer, FanOut, Message, MessageId, ShareName, WideFilter } from '@apus/broker';
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

/** A message that a process had no room for. */
interface GivenBack {
  readonly process: string;
  readonly frame: PublishFrame;
  /** Settles with `room` when it is to be sent again, and with `inherited` when the heir of the dead process has it. */
  readonly end: Promise<'room' | 'inherited'>;
  readonly settle: (end: 'room' | 'inherited') => void;
}

/** Hands messages to the processes that have subscribers for them: each message once for each process. */
export class ClusterFanOut implements FanOut {
  readonly #bus: Bus;
  readonly #routes: RemoteRoutes;
  readonly #choice: ShareChoice;
  readonly #settling = new WeakMap<Message, Promise<void>>();
  /** Messages on their way that may be given back: what each process was sent. */
  readonly #onTheirWay = new Map<MessageId, ReadonlyMap<string, PublishFrame>>();
  readonly #givenBack = new Map<MessageId, GivenBack[]>();

  constructor(bus: Bus, routes: RemoteRoutes, choice: ShareChoice) {
    this.#bus = bus;
    this.#routes = routes;
    this.#choice = choice;
  }

  accept(
    message: Message,
    filters: readonly WideFilter[],
    isAnswered = false,
    payer?: DeliveryPayer,
  ): boolean {
    const tenant = filters[0]?.tenant ?? '';
    const parts = this.#partsOf(tenant, message.topic, filters);
    for (const process of parts.keys()) if (this.#bus.isFull(process)) return false;
    this.#hand(tenant, message, parts, isAnswered, payer);
    return true;
  }

  settled(message: Message): Promise<void> | undefined {
    return this.#settling.get(message);
  }

  /** The process had no room for the message. */
  gaveBack(process: string, messageId: MessageId): void {
    const frame = this.#onTheirWay.get(messageId)?.get(process);
    if (frame === undefined) return;
    let settle: GivenBack['settle'] = () => {};
    const end = new Promise<'room' | 'inherited'>((resolve) => {
      settle = resolve;
    });
    const others = this.#givenBack.get(messageId) ?? [];
    this.#givenBack.set(messageId, [...others, { process, frame, end, settle }]);
  }

  /** The process has room again. */
  mayHaveRoom(process: string): void {
    for (const back of this.#of(process)) back.settle('room');
  }

  /**
   * The process is dead: messages that it has given back, which its heir is to get.
   *
   * @param known the heir gets these anyway
   */
  forget(
    process: string,
    known: ReadonlySet<MessageId>,
  ): { readonly frame: PublishFrame; resolve(): void }[] {
    return this.#of(process).flatMap(({ frame, settle }) => {
      const resolve = () => settle('inherited');
      if (!known.has(frame.message.id)) return { frame, resolve };
      resolve();
      return [];
    });
  }

  /** Asked before a message of a stream has its place. Members of share groups are chosen behind that. */
  hasRoom(filters: readonly WideFilter[], { topic }: Message): boolean {
    const tenant = filters[0]?.tenant ?? '';
    for (const { plain } of this.#routes.match(tenant, topic))
      for (const process of plain) if (this.#bus.isFull(process)) return false;
    return true;
  }

  take(message: Message, filters: readonly WideFilter[], payer?: DeliveryPayer): void {
    const tenant = filters[0]?.tenant ?? '';
    this.#hand(tenant, message, this.#partsOf(tenant, message.topic, filters), false, payer);
  }

  passOn(tenant: string, message: Message, share: ShareName): Promise<void> | undefined {
    return this.handOn({ tenant, message, hops: 0 }, [groupedFilter(share)]);
  }

  /** Hands a message for share groups on, whose members here are gone. Settles when other members have it. */
  handOn(
    { tenant, message, hops, payer }: Pick<PublishFrame, 'tenant' | 'message' | 'hops' | 'payer'>,
    groups: readonly string[],
  ): Promise<void> | undefined {
    const filters = groups.map((topicFilter) => ({ tenant, topicFilter, shards: 1 }));
    const parts = this.#partsOf(tenant, message.topic, filters);
    return this.#sendAll(framesOf({ tenant, message, hops: hops + 1, mayWait: false, payer }, parts));
  }

  #hand(
    tenant: string,
    message: Message,
    parts: ReadonlyMap<string, Part>,
    mayWait: boolean,
    payer: DeliveryPayer | undefined,
  ): void {
    const frames = framesOf({ tenant, message, hops: 0, mayWait, payer }, parts);
    const sent = this.#sendAll(frames);
    // At QoS 0 no publisher waits.
    if (sent === undefined || message.qos === 0) return;
    if (mayWait) this.#onTheirWay.set(message.id, frames);
    this.#settling.set(message, mayWait ? this.#takenBy(message, sent) : sent);
  }

  /** Settles when each process has taken the message. One that gives it back says so before it acknowledges it. */
  async #takenBy({ id }: Message, sent: Promise<void>): Promise<void> {
    await sent;
    for (let back = this.#givenBack.get(id)?.[0]; back !== undefined; back = this.#givenBack.get(id)?.[0]) {
      const end = await back.end;
      const left = (this.#givenBack.get(id) ?? []).filter((each) => each !== back);
      if (left.length > 0) this.#givenBack.set(id, left);
      else this.#givenBack.delete(id);
      if (end === 'room') await this.#bus.request(back.process, back.frame);
    }
    this.#onTheirWay.delete(id);
  }

  #of(process: string): GivenBack[] {
    return [...this.#givenBack.values()].flat().filter((back) => back.process === process);
  }

  #sendAll(frames: ReadonlyMap<string, PublishFrame>): Promise<void> | undefined {
    const sent: Promise<void>[] = [];
    let plain: Buffer | undefined;
    for (const [process, frame] of frames) {
      const isPlain = frame.groups.length === 0;
      // Most messages go to all of their processes in the same form.
      if (isPlain) plain ??= encodeFrame(frame);
      sent.push(this.#bus.request(process, frame, isPlain ? plain : undefined));
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

function framesOf(
  { tenant, message, hops, mayWait, payer }: Omit<PublishFrame, 'type' | 'isPlain' | 'groups'>,
  parts: ReadonlyMap<string, Part>,
): Map<string, PublishFrame> {
  const frames = new Map<string, PublishFrame>();
  for (const [process, { isPlain, groups }] of parts)
    frames.set(process, { type: 'publish', tenant, message, isPlain, groups, hops, mayWait, payer });
  return frames;
}
