import type { ConnectionId, LinkState, Peer } from '@apus/broker';
import { CloseCode } from '@apus/door';
import { addressGroup, Crowd } from '@apus/identity';
import { ReasonCode } from '@apus/mqtt';
import type { ComposedStores, LivingConnection, Writer } from '@apus/store-disk';
import type { HubUsage } from '../hub-usage.ts';
import { SLOW_LOOK_MS, UNREAD_LOOK_BYTES } from '../limits.ts';
import type { ObjectSocket } from '../platform.ts';
import { type Records, spilledKey } from '../storage/records.ts';
import {
  noteOn,
  packFacts,
  packLink,
  type SavedFacts,
  type SavedLink,
  type SocketNote,
  unpackLink,
} from '../storage/saved-link.ts';
import { isUnfinished, nameOf, stateWith } from '../storage/saved-state.ts';
import { Density } from './density.ts';
import { type LinkContext, ObjectLink } from './object-link.ts';

type OpenContext = Omit<LinkContext, 'sends' | 'changed' | 'slow' | 'ended'> & {
  readonly writer: Writer;
  readonly usage: HubUsage;
  /** The link is new, or has another Keep Alive. */
  watch(link: ObjectLink): void;
};

/** Limits of all links together. */
interface Limits {
  readonly quietMs: number;
  readonly attachmentBytesMax: number;
  readonly connectionsMax: number;
  readonly pendingPerAddressMax: number;
  readonly unreadTotalBytesMax: number;
}

/** What the hub does for its links. */
interface Work {
  readonly limits: Limits;
  /** At the end of the present work: commits, and has bytes leave. */
  settle(): void;
  /** The object may sleep now. */
  quiet(): void;
}

/** A link that was saved, and its socket. */
interface Found {
  readonly socket: ObjectSocket;
  readonly saved: SavedLink;
}

/**
 * The network connections of a hub. What their memory holds is saved with their sockets at the end of each event, since
 * the platform bills the time in which a timer keeps the object awake. Where events are so dense that it does not sleep
 * anyway, or the state of a link stands in rows, a timer saves it once for many events.
 */
export class HubLinks {
  readonly #records: Records;
  readonly #work: Work;
  readonly #found = new Map<ConnectionId, SavedLink>();
  readonly #links = new Map<ConnectionId, ObjectLink>();
  readonly #bySocket = new Map<ObjectSocket, ObjectLink>();
  /** Links by the number of their sessions, which end with them. */
  readonly #byNumber = new Map<number, ObjectLink>();
  readonly #sending = new Set<ObjectLink>();
  /** Changed by the present event. */
  readonly #unsaved = new Set<ObjectLink>();
  /** Saved when the timer for them goes off. */
  readonly #waiting = new Set<ObjectLink>();
  readonly #density: Density;
  readonly #slow = new Set<ObjectLink>();
  /** Links without an accepted CONNECT, by address. */
  readonly #pending = new Crowd<ObjectLink>();
  /** Sent since the hub has looked how much is unread. */
  #sentBytes = 0;
  readonly #endedBytes = { receivedBytes: 0, sentBytes: 0 };
  readonly #facts = new WeakMap<
    LinkState,
    { readonly attachment: SavedFacts['attachment']; readonly bytes: Uint8Array }
  >();
  /** Links whose state stands in rows. */
  readonly #spilled = new Set<ConnectionId>();
  #isWaiting = false;
  #isLooking = false;
  #stores: ComposedStores | undefined;
  #writer: Writer | undefined;
  #context: LinkContext | undefined;
  #usage: HubUsage | undefined;
  #watch: (link: ObjectLink) => void = () => {};

  constructor(records: Records, work: Work) {
    this.#records = records;
    this.#work = work;
    this.#density = new Density(work.limits.quietMs);
    records.onPassing = (number) => {
      const link = this.#byNumber.get(number);
      if (link !== undefined) this.#unsaved.add(link);
    };
  }

  get size(): number {
    return this.#links.size;
  }

  /** Where all places are taken, a client that has not sent CONNECT gives way: the oldest of the address with most. */
  makePlace(): boolean {
    if (this.#links.size < this.#work.limits.connectionsMax) return true;
    return this.#closePending(this.#pending.oldest());
  }

  /** MQTT bytes of all connections since the object woke. */
  get bytes(): { readonly receivedBytes: number; readonly sentBytes: number } {
    const bytes = { ...this.#endedBytes };
    for (const { traffic } of this.#links.values()) {
      bytes.receivedBytes += traffic.receivedBytes;
      bytes.sentBytes += traffic.sentBytes;
    }
    return bytes;
  }

  get(id: ConnectionId): ObjectLink | undefined {
    return this.#links.get(id);
  }

  all(): Iterable<ObjectLink> {
    return this.#links.values();
  }

  of(socket: ObjectSocket): ObjectLink | undefined {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const note = socket.deserializeAttachment() as SocketNote | null;
    return note === null ? undefined : this.#links.get(note.id);
  }

  /** Reads the links whose sockets have outlived the memory of the object, and the records of their sessions. */
  read(sockets: readonly ObjectSocket[]): readonly Found[] {
    const found: Found[] = [];
    for (const id of this.#records.spilledIds()) this.#spilled.add(id);
    for (const socket of sockets) {
      const note = socket.deserializeAttachment() as SocketNote | null;
      if (note === null || note.isClosed) continue;
      const saved = unpackLink(note.link ?? this.#records.get(spilledKey(note.id)) ?? new Uint8Array());
      this.#records.adopt(saved.records);
      this.#found.set(note.id, saved);
      found.push({ socket, saved });
    }
    return found;
  }

  /** For the stores, while they are read. */
  living(connectionId: ConnectionId): LivingConnection | undefined {
    const saved = this.#found.get(connectionId);
    return saved?.attachment && { attachment: saved.attachment, progress: saved.progress };
  }

  /** The stores have been read: the links go on. */
  open(found: readonly Found[], stores: ComposedStores, given: OpenContext): void {
    const { watch, writer, usage, ...context } = given;
    this.#stores = stores;
    this.#writer = writer;
    this.#usage = usage;
    this.#watch = watch;
    this.#context = {
      ...context,
      sends: (link) => this.#sends(link),
      changed: (link) => {
        this.#unsaved.add(link);
        this.#sends(link);
        if (link.tenant === undefined && link.state.phase === 'connected')
          usage.opened(link, link.state.connection.session.tenant);
      },
      slow: (link) => this.#lookLater(link),
      ended: (link) => this.#ended(link),
    };
    for (const { socket, saved } of found) this.#goOn(socket, saved, stores, this.#context);
    usage.restore(
      [...this.#found.values()].map((saved) => saved.usage),
      this.#links.values(),
    );
    this.#found.clear();
    // Rows of connections that are gone.
    for (const id of this.#spilled.keys()) if (!this.#links.has(id)) this.#dropSpilled(id);
  }

  accepted(socket: ObjectSocket, peer: Peer): void {
    if (this.#context === undefined) throw new Error('the hub is not open');
    const id = crypto.randomUUID();
    const link = new ObjectLink(this.#context, socket, { id, peer, openedAtMs: this.#context.clock.now() });
    this.#add(link);
    const holder = addressGroup(peer.address);
    if (this.#pending.count(holder) > this.#work.limits.pendingPerAddressMax)
      this.#closePending(this.#pending.oldest(holder));
    this.#save([link]);
    this.#work.settle();
  }

  /** False: there is none. */
  #closePending(link: ObjectLink | undefined): boolean {
    if (link === undefined) return false;
    this.#context?.log.info('pending-cut', { address: this.#pending.holderOf(link) });
    link.closeWith(CloseCode.TryAgainLater, 'Too many connections wait for CONNECT');
    this.#forget(link);
    return true;
  }

  /** The commit is made: bytes leave. */
  flush(): void {
    const sending = [...this.#sending];
    this.#sending.clear();
    for (const link of sending) this.#sentBytes += link.flush();
    this.#usage?.count(sending);
    if (this.#unsaved.size === 0 && this.#usage?.isCarried === false) this.carryUsage();
    if (this.#unsaved.size > 0) this.#saveChanged();
    if (this.#sentBytes >= UNREAD_LOOK_BYTES) this.#lookAtUnread();
  }

  /** Those that have left most unread go, until the others have room. */
  #lookAtUnread(): void {
    this.#sentBytes = 0;
    const links = [...this.#links.values()].sort((one, other) => other.unreadBytes - one.unreadBytes);
    let bytes = links.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0);
    for (const link of links) {
      if (bytes <= this.#work.limits.unreadTotalBytesMax) return;
      bytes -= link.unreadBytes;
      link.disconnect(ReasonCode.QuotaExceeded, 'Too many bytes were sent to clients that do not read');
    }
  }

  #goOn(socket: ObjectSocket, saved: SavedLink, { sessions }: ComposedStores, context: LinkContext): void {
    const state = stateWith(saved.state, (tenant, clientId) => {
      const session = sessions.get(tenant, clientId)?.session;
      return session?.attachment?.connectionId === saved.id ? session : undefined;
    });
    if (state === undefined) {
      // Another connection has taken the session over.
      socket.close(1000);
      return;
    }
    const link = new ObjectLink(context, socket, { ...saved, state });
    if (state.phase === 'connected') link.tenant = state.connection.session.tenant;
    this.#add(link);
    this.#name(link);
    if (saved.readers.length > 0 || isUnfinished(state)) link.wake(saved.readers);
  }

  #add(link: ObjectLink): void {
    this.#links.set(link.id, link);
    this.#bySocket.set(link.socket, link);
    if (link.state.phase !== 'connected') this.#pending.add(link, addressGroup(link.peer.address));
    this.#watch(link);
  }

  #sends(link: ObjectLink): void {
    this.#sending.add(link);
    this.#work.settle();
  }

  #name(link: ObjectLink): void {
    if (link.state.phase !== 'connected') return;
    this.#pending.delete(link);
    link.passingNumber ??= stores(this.#stores).sessions.passingNumberOf(link.state.connection.session);
    if (link.passingNumber !== undefined) this.#byNumber.set(link.passingNumber, link);
  }

  /** It has no place any more. */
  #forget(link: ObjectLink): void {
    this.#pending.delete(link);
    if (!this.#links.delete(link.id)) return;
    this.#endedBytes.receivedBytes += link.traffic.receivedBytes;
    this.#endedBytes.sentBytes += link.traffic.sentBytes;
  }

  #ended(link: ObjectLink): void {
    this.#usage?.ended(link);
    this.#forget(link);
    this.#bySocket.delete(link.socket);
    this.#slow.delete(link);
    this.#unsaved.delete(link);
    this.#waiting.delete(link);
    if (link.passingNumber !== undefined) this.#byNumber.delete(link.passingNumber);
    this.#dropSpilled(link.id);
    noteOn(link.socket, { id: link.id, isClosed: true });
    this.carryUsage();
    this.#work.settle();
  }

  /** The usage of the hub goes along with some socket; where there is none, into a row. */
  carryUsage(): void {
    const [link] = this.#links.values();
    if (link === undefined) this.#usage?.store();
    else this.#unsaved.add(link);
  }

  #saveChanged(): void {
    const isDense = this.#density.isDense(this.#unsaved.size);
    const now: ObjectLink[] = [];
    for (const link of this.#unsaved) {
      if (this.#links.has(link.id)) {
        this.#name(link);
        this.#watch(link);
      }
      if (isDense || this.#spilled.has(link.id)) this.#saveLater(link);
      else now.push(link);
    }
    this.#save(now);
    this.#unsaved.clear();
    this.#work.quiet();
  }

  /** Once for all changes of a moment. While the timer runs the object does not sleep. */
  #saveLater(link: ObjectLink): void {
    this.#waiting.add(link);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      this.#save(this.#waiting);
      this.#waiting.clear();
      this.#work.quiet();
    }, this.#work.limits.quietMs);
  }

  /** One of them carries the usage of the hub. */
  #save(links: Iterable<ObjectLink>): void {
    let carries = true;
    for (const link of links) {
      if (link.isOver) continue;
      this.#saveOne(link, stores(this.#stores), carries);
      carries = false;
    }
  }

  #saveOne(link: ObjectLink, { queues }: ComposedStores, carriesUsage: boolean): void {
    const { state } = link;
    const session = state.phase === 'connected' ? state.connection.session : undefined;
    const bytes = packLink(this.#factsOf(link, session?.attachment), {
      ...link.saved,
      progress: session && queues.progressOf(session),
      records: link.passingNumber === undefined ? [] : this.#records.passing(link.passingNumber),
      usage: carriesUsage ? this.#usage?.note : undefined,
    });
    if (bytes.length > this.#work.limits.attachmentBytesMax) {
      this.#spill(link, bytes);
      return;
    }
    noteOn(link.socket, { id: link.id, link: bytes });
    this.#dropSpilled(link.id);
  }

  #spill({ id, socket }: ObjectLink, bytes: Uint8Array): void {
    this.#spilled.add(id);
    this.#writer?.put(spilledKey(id), bytes);
    noteOn(socket, { id });
  }

  #dropSpilled(id: ConnectionId): void {
    // The object ends when a commit has failed, and the next one finds rows of connections that are gone.
    if (this.#writer?.isWorking && this.#spilled.delete(id)) this.#writer.remove(spilledKey(id));
  }

  #factsOf(link: ObjectLink, attachment: SavedFacts['attachment']): Uint8Array {
    const { id, peer, openedAtMs, state } = link;
    const known = this.#facts.get(state);
    if (known !== undefined && known.attachment === attachment) return known.bytes;
    const named = stateWith(state, nameOf) ?? state;
    const bytes = packFacts({ id, peer, openedAtMs, state: named, attachment });
    // What a method of authentication keeps may change in its place.
    if (state.phase === 'connected') this.#facts.set(state, { attachment, bytes });
    return bytes;
  }

  #lookLater(link: ObjectLink): void {
    this.#slow.add(link);
    if (this.#isLooking) return;
    this.#isLooking = true;
    setTimeout(() => this.#look(), SLOW_LOOK_MS);
  }

  #look(): void {
    this.#isLooking = false;
    const slow = [...this.#slow];
    this.#slow.clear();
    for (const link of slow) if (!link.looked()) this.#lookLater(link);
  }
}

function stores(opened: ComposedStores | undefined): ComposedStores {
  if (opened === undefined) throw new Error('the hub is not open');
  return opened;
}
