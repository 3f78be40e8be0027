import type { DeliveryPayer, FanOut, Message, MessageId, ShareName, WideFilter } from '@apus/broker';
import type { Bus } from './bus.ts';
import { encodeFrame, type Frame, type PublishFrame } from './frames.ts';
import type { GivenBack, GivenBackMessage } from './given-back.ts';
import type { RemoteRoutes } from './remote-routes.ts';
import { groupedFilter, parseGrouped } from './route-name.ts';
import type { ShareChoice } from './share-choice.ts';
import { EVERYWHERE } from './subscriptions.ts';

/** The share of one process in the fan-out of a message. */
interface Part {
  isPlain: boolean;
  readonly groups: string[];
}

/** A message under way that may be given back. */
interface OnItsWay {
  /** The frame for each process. */
  readonly frames: ReadonlyMap<string, PublishFrame>;
  /** The message as given back, by the process that had no room for it. */
  readonly givenBack: Map<string, GivenBackMessage>;
  /** The heir of a dead process has no room for it, or a process never will. */
  isRefused: boolean;
  /** Resolves as `confirmed` says. */
  readonly taken: Promise<boolean>;
}

/** Hands messages to the processes that have subscribers for them: each message once for each process. */
export class ClusterFanOut implements FanOut {
  readonly #bus: Bus;
  readonly #routes: RemoteRoutes;
  readonly #choice: ShareChoice;
  readonly #givenBack: GivenBack;
  readonly #confirming = new WeakMap<Message, Promise<boolean>>();
  readonly #onTheirWay = new Map<MessageId, OnItsWay>();

  constructor(bus: Bus, routes: RemoteRoutes, choice: ShareChoice, givenBack: GivenBack) {
    this.#bus = bus;
    this.#routes = routes;
    this.#choice = choice;
    this.#givenBack = givenBack;
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

  confirmed(message: Message): Promise<boolean> | undefined {
    return this.#confirming.get(message);
  }

  /** Handles a frame of a process that has no room for a message, or has room again. False: it is another frame. */
  handle(from: string, frame: Frame): boolean {
    if (frame.type === 'later') this.#gaveBack(from, frame);
    else if (frame.type === 'again') this.#givenBack.again(from, frame.queue, frame);
    else if (frame.type === 'refused') this.refused(frame.messageId);
    else return false;
    return true;
  }

  /** Its publisher is refused when all other processes have answered. */
  refused(messageId: MessageId): void {
    const onItsWay = this.#onTheirWay.get(messageId);
    if (onItsWay !== undefined) onItsWay.isRefused = true;
  }

  /**
   * The process is dead: returns the messages that it has given back, for its heir.
   *
   * @param known messages that the heir gets anyway
   */
  forget(
    process: string,
    known: ReadonlySet<MessageId>,
  ): { readonly frame: PublishFrame; resolve(): void }[] {
    return this.#givenBack.forget(process).flatMap(({ frame, finish }) => {
      const resolve = () => finish('inherited');
      if (!known.has(frame.message.id)) return { frame, resolve };
      resolve();
      return [];
    });
  }

  /** Asked before a message of a stream has its place. Members of share groups are chosen after that. */
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

  /** Hands on a message for share groups that have no member here any more. Resolves when other members have it. */
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
    isAnswered: boolean,
    payer: DeliveryPayer | undefined,
  ): void {
    // At QoS 0 no publisher waits.
    const mayWait = isAnswered && message.qos > 0;
    const before = mayWait ? this.#onTheirWay.get(message.id) : undefined;
    // A client that has come back repeats a QoS 2 message under its id, while the first one still waits.
    if (before !== undefined) {
      this.#confirming.set(message, before.taken);
      return;
    }
    const frames = framesOf({ tenant, message, hops: 0, mayWait, payer }, parts);
    const sent = this.#sendAll(frames);
    if (sent === undefined || message.qos === 0) return;
    this.#confirming.set(message, mayWait ? this.#takenBy(message, frames, sent) : sent.then(() => true));
  }

  /**
   * Resolves when each process has taken the message or given it up. A process that gives it back says so before it
   * acknowledges it.
   */
  #takenBy(
    { id }: Message,
    frames: ReadonlyMap<string, PublishFrame>,
    sent: Promise<void>,
  ): Promise<boolean> {
    const givenBack = new Map<string, GivenBackMessage>();
    const taken = sent.then(async () => {
      const ends =
        givenBack.size === 0 ? [] : await Promise.all(Array.from(givenBack.values(), ({ end }) => end));
      this.#onTheirWay.delete(id);
      return !onItsWay.isRefused && !ends.includes('given-up');
    });
    const onItsWay: OnItsWay = { frames, givenBack, isRefused: false, taken };
    this.#onTheirWay.set(id, onItsWay);
    return taken;
  }

  #gaveBack(process: string, { messageId, queue }: Extract<Frame, { type: 'later' }>): void {
    const onItsWay = this.#onTheirWay.get(messageId);
    const frame = onItsWay?.frames.get(process);
    if (onItsWay === undefined || frame === undefined) {
      this.#givenBack.unknown(process, queue);
      return;
    }
    const { givenBack } = onItsWay;
    givenBack.set(process, this.#givenBack.add(process, queue, frame, givenBack.get(process)));
  }

  #sendAll(frames: ReadonlyMap<string, PublishFrame>): Promise<void> | undefined {
    const sent: Promise<void>[] = [];
    let plain: Buffer | undefined;
    for (const [process, frame] of frames) {
      const isPlain = frame.groups.length === 0;
      // Most messages go to all their processes in the same form.
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
  { tenant, message, hops, mayWait, payer }: Omit<PublishFrame, 'type' | 'isPlain' | 'groups' | 'isAgain'>,
  parts: ReadonlyMap<string, Part>,
): Map<string, PublishFrame> {
  const frames = new Map<string, PublishFrame>();
  // In equal parts: a frame for many processes is encoded once.
  const shared = payer && { ...payer, paid: payer.paid / parts.size };
  for (const [process, { isPlain, groups }] of parts)
    frames.set(process, {
      type: 'publish',
      ...{ tenant, message, isPlain, groups, hops, mayWait, payer: shared },
      isAgain: false,
    });
  return frames;
}
