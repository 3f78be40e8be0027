import { useEffect, useState } from 'react';
import { newId } from '../../engine/new-profile.ts';
import { database, type StoredDraft, type StoreToChange } from '../../state/database.ts';
import type { Draft } from '../../state/draft.ts';
import { tryStorage } from '../../state/storage.ts';

/** Messages in the history; the oldest go. */
const HISTORY_MAX = 100;

/** The channel between tabs that announces changed drafts. */
const CHANGES = 'apus.drafts';

/** Stores a published message. The same message twice in a row is stored once. */
export async function remember(draft: Draft): Promise<void> {
  await tryStorage(async () => {
    const history = await list();
    const [last] = history;
    if (last !== undefined && JSON.stringify(last.draft) === JSON.stringify(draft)) return;
    await change((drafts) => [
      drafts.put({ id: newId(), kind: 'history', atMs: Date.now(), draft }),
      ...history.slice(HISTORY_MAX - 1).map(({ id }) => drafts.delete(id)),
    ]);
  });
}

export async function clearHistory(): Promise<void> {
  await tryStorage(() => change((drafts) => [drafts.clear()]));
}

/** The published messages, newest first, as they change. */
export function useHistory(): readonly StoredDraft[] {
  const [drafts, setDrafts] = useState<readonly StoredDraft[]>([]);
  useEffect(() => {
    const read = (): void => void tryStorage(list).then((stored) => stored && setDrafts(stored));
    const changes = new BroadcastChannel(CHANGES);
    changes.onmessage = read;
    read();
    return () => changes.close();
  }, []);
  return drafts;
}

async function list(): Promise<StoredDraft[]> {
  const range = IDBKeyRange.bound(['history', -Infinity], ['history', Infinity]);
  return (await (await database()).getAllFromIndex('drafts', '[kind+atMs]', range)).toReversed();
}

/** Changes the drafts, and notifies the menus of all tabs. */
async function change(work: (drafts: StoreToChange<'drafts'>) => readonly Promise<unknown>[]): Promise<void> {
  const { store, done } = (await database()).transaction('drafts', 'readwrite');
  await Promise.all([...work(store), done]);
  const changes = new BroadcastChannel(CHANGES);
  changes.postMessage(undefined);
  changes.close();
}
