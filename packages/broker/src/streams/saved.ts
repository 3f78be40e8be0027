import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Connection, Link } from '../model/link.ts';
import type { Subscription } from '../model/session.ts';
import { readOn } from './read-on.ts';
import { type Cursor, StreamReader } from './reader.ts';
import { readerOf } from './request.ts';

/** A reader as a door saves it that loses its memory while the connection lives on. It is plain data. */
export interface SavedReader {
  readonly subscription: Omit<Subscription, 'reader'>;
  readonly conflateMs: number | undefined;
  readonly isLost: boolean;
  readonly behind: readonly (readonly [topic: string, cursor: Cursor])[];
}

/** The readers of a link between two packets. */
export function savedReadersOf({ readers }: Link): readonly SavedReader[] {
  const saved: SavedReader[] = [];
  for (const { reader, ...subscription } of readers?.values() ?? []) {
    if (!(reader instanceof StreamReader)) continue;
    const { conflateMs, isLost, behind } = reader;
    saved.push({ subscription, conflateMs, isLost, behind: [...behind] });
  }
  return saved;
}

/** The link has the readers again that it had. Those that were behind read on. */
export function* goOnReading(
  context: Context,
  link: Link,
  connection: Connection,
  saved: readonly SavedReader[],
): Flow<void> {
  for (const { subscription, conflateMs, isLost, behind } of saved) {
    const reader = readerOf(context, link, connection, subscription.topicFilter, conflateMs);
    if (!(reader instanceof StreamReader)) continue;
    reader.isJoining = false;
    reader.isLost = isLost;
    for (const [topic, cursor] of behind) reader.behind.set(topic, cursor);
    const granted = { ...subscription, reader };
    link.readers?.set(subscription.topicFilter, granted);
    yield* waitFor(context.ports.subscriptions.put(connection.session, [granted], Number.POSITIVE_INFINITY));
  }
  yield* readOn(context, link, connection);
}
