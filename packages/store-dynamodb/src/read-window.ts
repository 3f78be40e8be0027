import { type DrawnList, drawnListOf, isDrawnList, isNamedBy } from './drawn-list.ts';
import { ContentionError } from './errors.ts';
import { OWNED, ownedPartition } from './keys.ts';
import { DECISIONS_MAX } from './limits.ts';
import { isExactlyOnce, isInflight, KIND, waitingSortOf } from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { endOf, type QueryPage, type Table } from './table.ts';
import { type Item, textOf } from './values.ts';
import { type DrawnWindow, Window } from './window.ts';

/** What waits, read from the beginning. */
export type WaitingRead = QueryPage;

interface Seen {
  readonly inflight: readonly Item[];
  readonly list: DrawnList | undefined;
}

/**
 * The window, and what of the drawn is there still: what waits says so, where it has just been read. 'all': within the
 * frame that has drawn them nobody has acknowledged them, and none is being drawn.
 *
 * A message that is being drawn goes from the waiting ones to those inflight, so they are read in this order, and it is
 * seen in one place at least. Only the list says which of the waiting ones there are to be read, and it stands with
 * those inflight, which are then read once more:
 *
 *     here                               drain
 *     reads the list, nothing is inflight
 *                                        moves what waits, and the list has named
 *     reads what waits: nothing
 *     reads again, under the same list: it is inflight
 */
export async function readWindow(
  table: Table,
  view: QueueView,
  waiting?: WaitingRead | 'all',
): Promise<Window> {
  for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
    const seen = await readInflight(table, view);
    const { list } = seen;
    const sorts = list === undefined ? [] : namesIn(list, isOf(view, list));
    if (list === undefined || sorts.length === 0)
      return new Window(view, seen.inflight, { ...NOTHING, list });
    if (waiting === 'all' && isOf(view, list) && list.unsent.length === 0)
      return new Window(view, seen.inflight, { ...NOTHING, list, here: list.sent });
    const [from = '', to = ''] = [sorts[0], sorts.at(-1)];
    if (waiting !== undefined && waiting !== 'all' && (waiting.next === undefined || waiting.next >= to))
      return windowOf(view, seen, waiting.items);
    const there = await table.queryAll({ p: ownedPartition(view.session), from, to });
    if (!isOf(view, list) || list.moving.length === 0) return windowOf(view, seen, there);
    const now = await readInflight(table, view);
    if (now.list?.nonce === list.nonce) return windowOf(view, now, there);
  }
  throw new ContentionError('a window', DECISIONS_MAX);
}

const NOTHING: Omit<DrawnWindow, 'list'> = { here: [], elsewhere: [], moving: [] };

async function readInflight(table: Table, { session }: QueueView): Promise<Seen> {
  const p = ownedPartition(session);
  const items = await table.queryAll({ p, from: OWNED.inflight, to: endOf(OWNED.inflight) });
  return { inflight: items.filter(isInflight), list: drawnListOf(items.find(isDrawnList)) };
}

function isOf({ connectionId }: QueueView, list: DrawnList): boolean {
  return list.connectionId === connectionId;
}

/** What a list names, by the sort keys where it waits or did, in their order. */
function namesIn({ sent, unsent, moving }: DrawnList, isHere: boolean): string[] {
  const sorts = [...sent, ...unsent].map(({ sort }) => sort);
  return [...sorts, ...(isHere ? moving : [])].sort();
}

/** `waiting`: what of the named is there, and perhaps others. */
function windowOf(view: QueueView, { inflight, list }: Seen, waiting: readonly Item[]): Window {
  if (list === undefined) return new Window(view, inflight, { ...NOTHING, list });
  const there = new Map(waiting.map((item) => [textOf(item, 's') ?? '', item]));
  const isHere = isOf(view, list);
  const here = isHere ? list.sent.filter((entry) => isNamedBy(entry, there.get(entry.sort))) : [];
  const elsewhere = (isHere ? list.unsent : [...list.sent, ...list.unsent]).flatMap((entry) => {
    const item = there.get(entry.sort);
    return item !== undefined && isNamedBy(entry, item) ? [{ entry, item }] : [];
  });
  const isSentHere = (item: Item) => textOf(item, 'c') === view.connectionId;
  const sent = new Set(inflight.filter(isSentHere).map(waitingSortOf));
  const isUnsent = (item: Item) => !isSentHere(item) && textOf(item, 'k') !== KIND.released;
  const unsent = new Set(inflight.filter(isUnsent).map(waitingSortOf));
  // At QoS 1 it has an item of its own already. What waits there is another one: see `isNamedBy`.
  const isMovable = (item: Item | undefined) => item !== undefined && isExactlyOnce(item);
  const isMoving = (sort: string) => !sent.has(sort) && (isMovable(there.get(sort)) || unsent.has(sort));
  return new Window(view, inflight, {
    list,
    here,
    elsewhere,
    moving: isHere ? list.moving.filter(isMoving) : [],
  });
}
