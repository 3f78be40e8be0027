import {
  type Awaitable,
  type Clock,
  type Message,
  occupancyTopic,
  type PageLimit,
  type PresenceChange,
  type PresenceLimits,
  type PresenceOwner,
  type PresencePlace,
  type PresenceRefusal,
  type PresenceStore,
  type RetainedPage,
  type SessionRef,
  sessionKey,
  type Untold,
} from '@apus/broker';
import type { HeldMember, MemoryStores, PresenceJournal } from '@apus/store-memory';
import { memberCodec, type StoredMember, type StoredOwner } from './codec.ts';
import type { DueTimer } from './due-timers.ts';
import type { DurableSessions } from './durable-sessions.ts';
import type { JournalContent } from './journal.ts';
import { Kind, memberKey } from './keys.ts';
import type { Writer } from './writer.ts';

/** A name for a session, or a connection, that ended with its process. No store gives such a name. */
const OF_BEFORE = '!';

/** Everything of a store of rooms that is on the disk. */
export interface DiskPresenceContext {
  readonly content: JournalContent;
  readonly writer: Writer;
  /** The sessions have been restored. */
  readonly memory: Pick<MemoryStores, 'sessions' | 'presenceStore'>;
  readonly durables: DurableSessions;
  readonly clock: Clock;
  /** How long members stay whose clients the restart has cut. */
  readonly graceSeconds: number;
}

/**
 * Rooms in memory and on the disk. A restart ends the connections of all members. Watchers, whose sessions may have
 * been kept, are told of members whose clients do not come back in time. So a member is on the disk until watchers
 * have been told that it has left.
 */
export class DiskPresence implements PresenceStore, PresenceJournal {
  readonly dueTimers: DueTimer[] = [];
  readonly #context: DiskPresenceContext;

  private constructor(context: DiskPresenceContext) {
    this.#context = context;
  }

  static open(context: DiskPresenceContext): DiskPresence {
    const presence = new DiskPresence(context);
    for (const [key, bytes] of context.content.scan(Kind.Member)) presence.#restore(key, bytes);
    context.memory.presenceStore.journal = presence;
    return presence;
  }

  put(
    place: PresencePlace,
    owner: PresenceOwner,
    message: Message,
    limits: PresenceLimits,
    nowMs: number,
  ): PresenceChange | PresenceRefusal {
    this.#context.writer.assertWorking();
    const changed = this.#memory.put(place, owner, message, limits, nowMs);
    return typeof changed === 'string' ? changed : this.#written(changed, message.qos > 0);
  }

  remove(place: PresencePlace, session: SessionRef): PresenceChange {
    this.#context.writer.assertWorking();
    return this.#written(this.#memory.remove(place, session), true);
  }

  ownedBy(session: SessionRef): readonly PresencePlace[] {
    return this.#memory.ownedBy(session);
  }

  takeUntold(
    tenant: string,
    room: string,
    countMax: number,
    occupancyOf: (members: number) => Message,
  ): Untold {
    this.#context.writer.assertWorking();
    return this.#memory.takeUntold(tenant, room, countMax, occupancyOf);
  }

  match(tenant: string, topicFilter: string, from: string | undefined, limit: PageLimit): RetainedPage {
    return this.#memory.match(tenant, topicFilter, from, limit);
  }

  members(tenant: string, room: string): Iterable<HeldMember> {
    return this.#memory.members(tenant, room);
  }

  saved({ tenant, room, member, joinedAtMs, now, told, owners }: HeldMember): void {
    const message = now ?? told;
    // It joined and left between two ticks: no watcher knows of it.
    if (message === undefined) {
      this.removed({ tenant, room, member });
      return;
    }
    const storedOwners = Array.from(owners.values(), ({ session, holder }) => ({
      ...{ clientId: session.clientId, holder },
      number: this.#context.durables.find(session)?.number ?? 0,
    }));
    const stored = { tenant, room, member, joinedAtMs, message, owners: storedOwners };
    this.#context.writer.put(memberKey(stored), memberCodec.encode(stored));
  }

  removed(place: PresencePlace): void {
    this.#context.writer.remove(memberKey(place));
  }

  get #memory() {
    return this.#context.memory.presenceStore;
  }

  #written(changed: PresenceChange, isAnswered: boolean): PresenceChange {
    const { writer } = this.#context;
    const done: Awaitable<undefined> = isAnswered ? writer.durable(undefined) : writer.accepted(undefined);
    if (done === undefined) return changed;
    // Watchers are told first, so the disk may fail before a caller waits for it.
    done.catch(() => {});
    return { ...changed, written: done };
  }

  #restore(key: string, bytes: Uint8Array): void {
    const stored = this.#read(key, bytes);
    const { tenant } = stored;
    // A member that was leaving gets an owner that does not come back.
    const holder = { tenant, kind: 'client', name: '' } as const;
    const owners = stored.owners.length > 0 ? stored.owners : [{ clientId: '', holder }];
    const sessions = owners.map((owner) => this.#sessionOf(tenant, owner));
    const restored = owners.map((owner, index) => ({ ...owner, session: sessions[index] as SessionRef }));
    this.#memory.restore(stored, restored, stored.message, stored.joinedAtMs, (members) =>
      occupancyOf(stored, members),
    );
  }

  #read(key: string, bytes: Uint8Array): StoredMember {
    try {
      return memberCodec.decode(bytes);
    } catch (error) {
      throw this.#context.content.damage(`the record ${key}`, error);
    }
  }

  /** The session if it was kept, otherwise a name for it; and a timer for leaving its rooms. */
  #sessionOf(tenant: string, { clientId, number }: StoredOwner): SessionRef {
    const { memory, durables, clock, graceSeconds } = this.#context;
    // The session may have left nothing else: its number must not name a later session of the client.
    if (number !== undefined) durables.observe(number);
    const found = clientId === '' ? undefined : memory.sessions.get(tenant, clientId);
    // Another session of the same client may have followed.
    const isThat = number === undefined || (found && durables.find(found.session)?.number === number);
    const record = isThat ? found : undefined;
    const key = sessionKey(tenant, clientId);
    const ended = { key, tenant, clientId, incarnation: OF_BEFORE, attachment: undefined };
    const session = record?.session ?? ended;
    const connectionId = record?.lastConnectionId ?? OF_BEFORE;
    const timer = { kind: 'presence', session, connectionId } as const;
    this.dueTimers.push({ timer, dueAtMs: clock.now() + graceSeconds * 1000 });
    return session;
  }
}

function occupancyOf({ room, message }: StoredMember, members: number): Message {
  return { ...message, topic: occupancyTopic(room), payload: Buffer.from(String(members)), properties: {} };
}
