import type { Model, Successor } from '../support/explore.ts';

/*
 * A topic that has been silent for so long that its log is over by some clocks and not by others. Publishers append, or leave
 * the log for the next one: `openLog` and `append` of packages/store-dynamodb/src/streams, in single reads and writes.
 */

/** A place in the log of an epoch, which is taken. */
interface Tile {
  readonly epoch: number;
  readonly number: number;
  /** 'old': from before the silence. 'closing': the log goes on in the epoch `next`. */
  readonly kind: 'old' | 'new' | 'closing';
  readonly next?: number;
}

interface Publisher {
  readonly step: 'idle' | 'end-known' | 'appends' | 'leaves' | 'done';
  readonly end: Tile | undefined;
  readonly place: { readonly epoch: number; readonly number: number } | undefined;
}

interface Log {
  readonly tiles: readonly Tile[];
  /** The epoch in the topic's root. */
  readonly root: number;
  readonly publishers: readonly Publisher[];
  readonly hasForgotten: boolean;
  /** Where messages were placed, in the order of time. */
  readonly placed: readonly { readonly epoch: number; readonly number: number }[];
}

/** 'no-closing-tile': the root changes alone. 'no-root': a closing tile is written without reading the root. */
export type EpochMutation = 'no-closing-tile' | 'no-root';

const OLD: readonly Tile[] = [1, 2].map((number) => ({ epoch: 1, number, kind: 'old' }));

export class EpochsOfATopic implements Model<Log> {
  readonly #publishers: number;
  readonly #mutation: EpochMutation | undefined;

  constructor(publishers: number, mutation?: EpochMutation) {
    this.#publishers = publishers;
    this.#mutation = mutation;
  }

  start(): Log {
    const idle: Publisher = { step: 'idle', end: undefined, place: undefined };
    const publishers = Array.from({ length: this.#publishers }, () => idle);
    return { tiles: OLD, root: 1, publishers, hasForgotten: false, placed: [] };
  }

  textOf(log: Log): string {
    return JSON.stringify(log);
  }

  successors(log: Log): readonly Successor<Log>[] {
    const of = log.publishers.flatMap((publisher, index) => {
      const step = (
        label: string,
        change: Partial<Publisher>,
        others: Partial<Log> = {},
      ): Successor<Log> => ({
        label: `publisher ${index} ${label}`,
        isFault: false,
        state: {
          ...log,
          ...others,
          publishers: log.publishers.map((each, at) => (at === index ? { ...publisher, ...change } : each)),
        },
      });
      return this.#stepsOf(log, publisher, step);
    });
    return [...of, ...forgets(log)];
  }

  /** A reader accepts no message behind one of a later epoch, or of a later number: it would not see it. */
  violationOf({ placed }: Log): string | undefined {
    const [before, last] = placed.slice(-2);
    if (before === undefined || last === undefined) return undefined;
    const isLater = last.epoch > before.epoch || (last.epoch === before.epoch && last.number > before.number);
    return isLater ? undefined : `${textOfPlace(last)} is placed behind ${textOfPlace(before)}`;
  }

  /** Each has placed its message in the log that the root names, or in an earlier one. */
  violationAtEnd({ placed, root }: Log): string | undefined {
    if (placed.length !== this.#publishers) return `${placed.length} messages are placed`;
    return placed.some(({ epoch }) => epoch > root) ? 'a message is where no reader looks' : undefined;
  }

  #stepsOf(log: Log, { step: at, end, place }: Publisher, step: Step): Successor<Log>[] {
    switch (at) {
      case 'idle':
        return [step(`reads the end, ${textOfPlace(endOf(log))}`, { step: 'end-known', end: endOf(log) })];
      case 'end-known':
        return end === undefined ? [] : judgements(log, end, step);
      case 'appends':
        return place === undefined ? [] : [append(log, place, step)];
      case 'leaves':
        return end === undefined ? [] : [this.#leave(log, end, step)];
      case 'done':
        return [];
    }
  }

  /** One transaction: the closing tile in the next place of the log, and the root. */
  #leave(log: Log, end: Tile, step: Step): Successor<Log> {
    const place = { epoch: end.epoch, number: end.number + 1 };
    const isTaken = tileAt(log, place) !== undefined && this.#mutation !== 'no-closing-tile';
    const isLeft = log.root !== end.epoch && this.#mutation !== 'no-root';
    if (isTaken || isLeft) return step('finds the log left or longer', { step: 'idle' });
    const next = Math.max(log.root, ...log.tiles.map((tile) => tile.next ?? tile.epoch)) + 1;
    const closing: Tile = { ...place, kind: 'closing', next };
    const tiles = this.#mutation === 'no-closing-tile' ? log.tiles : [...log.tiles, closing];
    return step(`leaves for epoch ${next}`, { step: 'idle' }, { tiles, root: next });
  }
}

type Step = (label: string, change: Partial<Publisher>, others?: Partial<Log>) => Successor<Log>;

/** By its clock the log goes on, or is over. Of messages from after the silence no clock says so. */
function judgements(log: Log, end: Tile, step: Step): Successor<Log>[] {
  if (end.kind === 'closing') return [step('reads once more', { step: 'idle' })];
  const goesOn = step('goes on', { step: 'appends', place: { epoch: end.epoch, number: end.number + 1 } });
  const isOver = step('takes the log for over', { step: 'leaves' });
  if (end.kind === 'new') return [goesOn];
  // TTL takes a tile days after any clock takes the log for alive.
  return log.hasForgotten ? [isOver] : [goesOn, isOver];
}

function append(log: Log, place: NonNullable<Publisher['place']>, step: Step): Successor<Log> {
  const taken = tileAt(log, place);
  if (taken?.kind === 'closing') return step('finds the log left', { step: 'idle' });
  if (taken !== undefined)
    return step('finds its place taken', { place: { ...place, number: place.number + 1 } });
  const tiles: Tile[] = [...log.tiles, { ...place, kind: 'new' }];
  return step(`appends ${textOfPlace(place)}`, { step: 'done' }, { tiles, placed: [...log.placed, place] });
}

/** TTL takes the newest of the old tiles, when no handler can go on behind it any more. */
function forgets(log: Log): Successor<Log>[] {
  const isInUse = log.publishers.some(({ step, place }) => step === 'appends' && place?.epoch === 1);
  if (log.hasForgotten || isInUse) return [];
  const tiles = log.tiles.filter(({ epoch, number }) => epoch !== 1 || number !== 2);
  return [{ label: 'TTL takes 1-2', isFault: true, state: { ...log, tiles, hasForgotten: true } }];
}

/** The last tile of the log that the root names; of an empty one, the place before its first. */
function endOf({ tiles, root }: Log): Tile {
  const own = tiles.filter(({ epoch }) => epoch === root).sort((one, other) => one.number - other.number);
  return own.at(-1) ?? { epoch: root, number: 0, kind: 'new' };
}

function tileAt(
  { tiles }: Log,
  place: { readonly epoch: number; readonly number: number },
): Tile | undefined {
  return tiles.find(({ epoch, number }) => epoch === place.epoch && number === place.number);
}

function textOfPlace({ epoch, number }: { readonly epoch: number; readonly number: number }): string {
  return `${epoch}-${number}`;
}
