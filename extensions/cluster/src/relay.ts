import type {
  Broker,
  Delivery,
  MatchedFilter,
  Message,
  MessageId,
  SessionRef,
  Subscriber,
} from '@apus/broker';
import type { JournaledStores, Restored } from '@apus/store-disk';
import type { ClusterFanOut } from './fan-out.ts';
import type { PublishFrame } from './frames.ts';
import { HOPS_MAX, SEEN_MAX } from './limits.ts';
import { groupedFilter, rememberedName } from './route-name.ts';

/** The sessions of a dead process, while other processes may not know where they are. */
interface Adoption {
  readonly incarnations: ReadonlySet<string>;
  /** Copies at QoS 2 in these sessions: `INCARNATION MESSAGE`. */
  readonly copies: ReadonlySet<string>;
  /**
   * Processes that have not said which messages they had for the dead one. Undefined: it is not known yet which they
   * are.
   */
  waiting: Set<string> | undefined;
}

/** Delivers a message of the process `from` when the rule queue that it is for has room. Resolves when that is done. */
type WhenRoom = (
  from: string,
  frame: PublishFrame,
  deliver: () => Promise<void> | undefined,
) => Promise<void> | undefined;

/**
 * Delivers what other processes have published to the sessions of this one.
 *
 * A session that was taken over gets each message once, whichever way it arrives:
 *
 *     X: publishes 1 → to the dead process                      this process: takes its sessions over
 *     X: publishes 2 → to the dead process, and to this one     2 comes: not for those sessions
 *     X: hears of it → sends 1 and 2 for the heir               1, 2: for those sessions alone
 *     X: publishes 3 → to this one                              3: for all
 */
export class Relay {
  readonly #subscriptions: JournaledStores['subscriptions'];
  readonly #fanOut: ClusterFanOut;
  readonly #whenRoom: WhenRoom;
  readonly #adoptions = new Map<string, Adoption>();
  /** QoS 2 messages that were delivered here, oldest first, each with its number. */
  readonly #seen = new Map<string, number>();
  #seenCount = 0;
  /** How many of these had been seen when a session was taken over. */
  readonly #seenBefore = new WeakMap<SessionRef, number>();
  #isRelaying = false;

  constructor(subscriptions: JournaledStores['subscriptions'], fanOut: ClusterFanOut, whenRoom: WhenRoom) {
    this.#subscriptions = subscriptions;
    this.#fanOut = fanOut;
    this.#whenRoom = whenRoom;
  }

  /** Delivers a message of another process. Resolves when it is as durable here as its QoS asks. */
  publish(broker: Broker, from: string, frame: PublishFrame): Promise<void> | undefined {
    if (frame.message.qos === 2 && this.#wasSeen(frame)) return undefined;
    const excluded = this.#excludedFor(from);
    return this.#deliver(broker, frame, excluded && (({ session }) => !excluded.has(session.incarnation)));
  }

  /** Delivers messages that a process had for a dead one, whose sessions are here. */
  inherit(
    broker: Broker,
    from: string,
    dead: string,
    frames: readonly PublishFrame[],
    isLast = true,
  ): Promise<void> | undefined {
    const adoption = this.#adoptions.get(dead);
    if (adoption === undefined) return undefined;
    const { incarnations, copies, waiting } = adoption;
    const delivered = frames.flatMap((frame) => {
      const isFor = ({ session: { incarnation } }: Subscriber) =>
        incarnations.has(incarnation) && !copies.has(copyOf(incarnation, frame.message));
      return this.#whenRoom(from, frame, () => this.#deliver(broker, frame, isFor)) ?? [];
    });
    if (isLast) waiting?.delete(from);
    if (waiting?.size === 0) this.#adoptions.delete(dead);
    return delivered.length === 0 ? undefined : Promise.all(delivered).then(() => {});
  }

  /**
   * Whether a client of this process repeats a QoS 2 message that a process has handed over before it died: then
   * subscribers here have it. Sessions that came from the dead process are not among them: their queues tell what they
   * have.
   *
   *     the dead process                   this process
   *     PUBLISH 7 → its receipt is stored
   *     m → this process                   delivers m
   *     dies, and stores no copy of m      takes its sessions over
   *                                        PUBLISH 7 → m again: for those sessions alone
   */
  isRepeated({ id, qos }: Message, { copy, share, session }: Delivery): boolean {
    if (qos < 2 || this.#isRelaying || copy === undefined || share !== undefined) return false;
    const number = this.#seen.get(seenName(id, true, []));
    return number !== undefined && number > (this.#seenBefore.get(session) ?? 0);
  }

  /** Called in the turn in which the sessions were taken over. */
  adopt(dead: string, { sessions, exactlyOnce }: Restored): void {
    for (const session of sessions) this.#seenBefore.set(session, this.#seenCount);
    this.#adoptions.set(dead, {
      incarnations: new Set(sessions.map(({ incarnation }) => incarnation)),
      copies: new Set(exactlyOnce.map(({ session, messageId }) => `${session.incarnation} ${messageId}`)),
      waiting: undefined,
    });
  }

  /** These processes are told, and answer. Later ones have known it from their beginning. */
  told(dead: string, processes: Iterable<string>): void {
    const adoption = this.#adoptions.get(dead);
    if (adoption === undefined) return;
    adoption.waiting = new Set(processes);
    if (adoption.waiting.size === 0) this.#adoptions.delete(dead);
  }

  /** A process that had to answer is dead itself. */
  lost(process: string): void {
    for (const [dead, { waiting }] of this.#adoptions) {
      waiting?.delete(process);
      if (waiting?.size === 0) this.#adoptions.delete(dead);
    }
  }

  #excludedFor(from: string): ReadonlySet<string> | undefined {
    if (this.#adoptions.size === 0) return undefined;
    const excluded = new Set<string>();
    for (const { incarnations, waiting } of this.#adoptions.values())
      if (waiting === undefined || waiting.has(from)) for (const each of incarnations) excluded.add(each);
    return excluded.size === 0 ? undefined : excluded;
  }

  #deliver(
    broker: Broker,
    frame: PublishFrame,
    isFor: ((subscriber: Subscriber) => boolean) | undefined,
  ): Promise<void> | undefined {
    const { tenant, message, isPlain, groups, payer } = frame;
    const wanted = new Set(groups);
    const matched: MatchedFilter[] = [];
    for (const each of this.#subscriptions.match(tenant, message.topic)) {
      const isWanted = each.shareGroup === undefined ? isPlain : wanted.delete(groupedFilter(each));
      if (!isWanted) continue;
      // The member of a group is chosen here, even if the group's session was at another process before.
      if (isFor === undefined || each.shareGroup !== undefined) matched.push(each);
      else matched.push({ ...each, subscribers: each.subscribers.filter(isFor) });
    }
    this.#isRelaying = true;
    const relayed = broker.relay(tenant, message, matched, payer);
    this.#isRelaying = false;
    // Where this process delivers, it has charged the payer for all but the part that was paid in advance.
    const left = payer && matched.length > 0 ? { ...payer, paid: 0 } : payer;
    const passed =
      wanted.size > 0 && frame.hops < HOPS_MAX
        ? this.#fanOut.handOn({ ...frame, payer: left }, [...wanted])
        : undefined;
    if (passed === undefined) return relayed instanceof Promise ? relayed : undefined;
    return Promise.all([relayed, passed]).then(() => {});
  }

  /** A publisher repeats a QoS 2 message under its id: whether this process has delivered it before. */
  #wasSeen({ message: { id }, isPlain, groups }: PublishFrame): boolean {
    const name = seenName(id, isPlain, groups);
    if (this.#seen.has(name)) return true;
    this.#seenCount += 1;
    this.#seen.set(name, this.#seenCount);
    if (this.#seen.size > SEEN_MAX) for (const oldest of this.#seen.keys()) return !this.#seen.delete(oldest);
    return false;
  }
}

function copyOf(incarnation: string, { id }: Message): string {
  return `${incarnation} ${id}`;
}

function seenName(id: MessageId, isPlain: boolean, groups: readonly string[]): string {
  return rememberedName(`${id} ${isPlain ? '#' : ''} ${groups.join(' ')}`);
}
