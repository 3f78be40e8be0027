import { isOnItsConnection, type MatchedFilter, type Reader, type SessionRef } from './session.ts';

/** Places looked at for each arriving entry: places without readers are deleted as fast as new ones are made. */
const SWEEP_LENGTH = 2;

/** The matching filters that have subscribers in this process. Valid in the turn of the call. */
export type MatchHere = (tenant: string, topic: string) => readonly MatchedFilter[];

/** How far the readers of this process have been sent the log of one topic. */
export interface Place {
  readonly tenant: string;
  readonly topic: string;
  /** Which one of the places that this process has opened. */
  readonly opening: number;
  epoch: string;
  /** Number of the last entry that readers were sent. */
  last: number;
  /** The highest number that is known to exist. */
  upTo: number;
  /** An entry of another epoch has come. */
  isUnsure: boolean;
  /** Set while entries are read that have not arrived. */
  reading: Promise<void> | undefined;
}

/**
 * For processes that append to one log, and hand messages to each other: keeps the position of this process in each
 * topic that one of its clients reads. An entry goes to live readers when all entries before it have gone:
 *
 *     process A                  process B                  this one, which has given 4 to its readers
 *     appends 5                  appends 6
 *                                hands 6 over               6: waits. Reads behind 4: 5 and 6 go to the readers
 *     hands 5 over                                          5: has been sent already
 */
export class StreamFeed {
  readonly #matchHere: MatchHere;
  readonly #places = new Map<string, Place>();
  #sweep: Iterator<Place> = [].values();
  #openings = 0;

  constructor(matchHere: MatchHere) {
    this.#matchHere = matchHere;
  }

  /** How many topics it follows. */
  get size(): number {
    return this.#places.size;
  }

  /** Places that it has opened. */
  get openings(): number {
    return this.#openings;
  }

  /** The open places of a tenant that were opened behind so many others. */
  openedSince(tenant: string, openings: number): Place[] {
    return [...this.#places.values()].filter((place) => place.opening > openings && place.tenant === tenant);
  }

  find(tenant: string, topic: string): Place | undefined {
    return this.#places.get(nameOf(tenant, topic));
  }

  open(tenant: string, topic: string, epoch: string, last: number): Place {
    this.#openings += 1;
    const own = { tenant, topic, opening: this.#openings };
    const place = { ...own, epoch, last, upTo: last, isUnsure: false, reading: undefined };
    this.#places.set(nameOf(tenant, topic), place);
    return place;
  }

  forget({ tenant, topic }: Place): void {
    this.#places.delete(nameOf(tenant, topic));
  }

  /** The matching filters with subscribers in this process, readers or not. */
  matched(tenant: string, topic: string): readonly MatchedFilter[] {
    return this.#matchHere(tenant, topic).filter(({ shareGroup }) => shareGroup === undefined);
  }

  /** The readers of this process that are on their connections. */
  readers(tenant: string, topic: string): ReadBy[] {
    const found: ReadBy[] = [];
    for (const { subscribers } of this.matched(tenant, topic))
      for (const { session, subscription } of subscribers) {
        const { reader } = subscription;
        if (reader !== undefined && isOnItsConnection(reader, session)) found.push({ session, reader });
      }
    return found;
  }

  /** Deletes some places without readers. */
  sweep(): void {
    for (let left = SWEEP_LENGTH; left > 0; left -= 1) {
      const next = this.#sweep.next();
      if (next.done) {
        this.#sweep = this.#places.values();
        return;
      }
      const { tenant, topic, reading } = next.value;
      if (reading === undefined && this.readers(tenant, topic).length === 0) this.forget(next.value);
    }
  }
}

function nameOf(tenant: string, topic: string): string {
  return `${tenant}\0${topic}`;
}

/** A reader of this process, and its session. */
interface ReadBy {
  readonly session: SessionRef;
  readonly reader: Reader;
}
