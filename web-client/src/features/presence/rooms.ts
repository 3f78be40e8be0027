import type { LoggedMessage, LogMark, MessageLog, PlacedMark } from '../../engine/types.ts';
import { DATA_LENGTH_MAX, MEMBERS_MAX, ROOMS_MAX } from './limits.ts';
import { memberOf, roomOfOccupancy } from './topics.ts';

export interface Member {
  readonly name: string;
  /** The beginning of its data, as text. */
  readonly data: string;
  /** Undefined: the member was present before the room was watched. */
  readonly joinedAtMs: number | undefined;
}

/** A room as its watcher sees it. Replaced, never changed. */
export interface Room {
  readonly members: ReadonlyMap<string, Member>;
  /** The broker's count; undefined until it is known. */
  readonly occupancy: number | undefined;
  /** The broker has dropped messages for this client: the list of members may be outdated. */
  readonly isDoubtful: boolean;
}

const EMPTY: Room = { members: new Map(), occupancy: undefined, isDoubtful: false };

interface OpenRoom {
  readonly members: Map<string, Member>;
  occupancy: number | undefined;
  isDoubtful: boolean;
  shown: Room | undefined;
}

/** The members of the rooms of a connection, by its messages. */
export class Rooms {
  readonly #rooms = new Map<string, OpenRoom>();
  readonly #listeners = new Set<() => void>();
  #version = 0;

  /** Goes up with each change. */
  get version(): number {
    return this.#version;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get(name: string): Room {
    const room = this.#rooms.get(name);
    if (room === undefined) return EMPTY;
    const { members, occupancy, isDoubtful } = room;
    room.shown ??= {
      members: new Map(members),
      occupancy,
      isDoubtful,
    };
    return room.shown;
  }

  /** The room is requested again, or no longer watched. */
  forget(name: string): void {
    this.#rooms.delete(name);
    this.#changed();
  }

  /** Begins with what the log still holds. */
  lookBack(log: MessageLog): void {
    const messages: LoggedMessage[] = [];
    for (let sequence = log.firstSequence; sequence < log.endSequence; sequence += 1) {
      const message = log.at(sequence);
      if (message !== undefined) messages.push(message);
    }
    this.take(messages, log.marks);
  }

  /** @param marks stand before the messages of their sequences, or behind all of them */
  take(messages: readonly LoggedMessage[], marks: readonly PlacedMark[]): void {
    let next = 0;
    let hasChanged = marks.length > 0;
    for (const message of messages) {
      for (; (marks[next]?.sequence ?? Number.POSITIVE_INFINITY) <= message.sequence; next += 1)
        this.#miss(marks[next]?.mark);
      // A cheap check first: most messages do not concern presence.
      if (message.direction !== 'received' || !message.topic.startsWith('$')) continue;
      if (this.#takeMember(message) || this.#takeOccupancy(message)) hasChanged = true;
    }
    for (; next < marks.length; next += 1) this.#miss(marks[next]?.mark);
    if (hasChanged) this.#changed();
  }

  #takeMember(message: LoggedMessage): boolean {
    const { room: name, member } = memberOf(message.topic) ?? {};
    if (name === undefined || member === undefined) return false;
    const room = this.#open(name);
    if (room === undefined) return false;
    const { members } = room;
    const known = members.get(member);
    const { atMs, retain } = message;
    if (message.payloadLength === 0) {
      members.delete(member);
      room.shown = undefined;
      return true;
    }
    if (known === undefined && members.size >= MEMBERS_MAX) return false;
    const joinedAtMs = known === undefined ? (retain ? undefined : atMs) : known.joinedAtMs;
    members.set(member, { name: member, data: message.text(DATA_LENGTH_MAX), joinedAtMs });
    room.shown = undefined;
    return true;
  }

  #takeOccupancy(message: LoggedMessage): boolean {
    const name = roomOfOccupancy(message.topic);
    const room = name === undefined ? undefined : this.#open(name);
    if (room === undefined) return false;
    const text = message.text(DATA_LENGTH_MAX);
    room.occupancy = /^\d+$/.test(text) ? Number(text) : undefined;
    room.shown = undefined;
    return true;
  }

  #open(name: string): OpenRoom | undefined {
    const known = this.#rooms.get(name);
    if (known !== undefined || this.#rooms.size >= ROOMS_MAX) return known;
    const room: OpenRoom = {
      members: new Map(),
      occupancy: undefined,
      isDoubtful: false,
      shown: undefined,
    };
    this.#rooms.set(name, room);
    return room;
  }

  #miss(mark: LogMark | undefined): void {
    // The server sends the members again to a new session; a resumed one has a queue with the changes.
    const beginsAnew = mark?.kind === 'reloaded' || (mark?.kind === 'away' && !mark.sessionPresent);
    for (const room of this.#rooms.values()) {
      if (beginsAnew) {
        room.members.clear();
        room.occupancy = undefined;
        room.isDoubtful = false;
      } else if (mark?.kind === 'dropped' || mark?.kind === 'skipped') room.isDoubtful = true;
      room.shown = undefined;
    }
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
