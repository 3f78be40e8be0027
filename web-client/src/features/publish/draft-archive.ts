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
    const history = await list('history');
    const [last] = history;
    if (last !== undefined && JSON.stringify(last.draft) === JSON.stringify(draft)) return;
    await change((drafts) => [
      drafts.put({ id: newId(), name: '', kind: 'history', atMs: Date.now(), draft }),
      ...history.slice(HISTORY_MAX - 1).map(({ id }) => drafts.delete(id)),
    ]);
  });
}

export async function saveTemplate(name: string, draft: Draft): Promise<void> {
  const template = { id: newId(), name, kind: 'template', atMs: Date.now(), draft } as const;
  await tryStorage(() => change((drafts) => [drafts.put(template)]));
}

export async function deleteDraft(id: string): Promise<void> {
  await tryStorage(() => change((drafts) => [drafts.delete(id)]));
}

export async function clearHistory(): Promise<void> {
  await tryStorage(async () => {
    const history = await list('history');
    await change((drafts) => history.map(({ id }) => drafts.delete(id)));
  });
}

/** The history or the templates, newest first, as they change. */
export function useArchive(kind: StoredDraft['kind']): readonly StoredDraft[] {
  const [drafts, setDrafts] = useState<readonly StoredDraft[]>([]);
  useEffect(() => {
    const read = (): void => void tryStorage(() => list(kind)).then((stored) => stored && setDrafts(stored));
    const changes = new BroadcastChannel(CHANGES);
    changes.onmessage = read;
    read();
    return () => changes.close();
  }, [kind]);
  return drafts;
}

async function list(kind: StoredDraft['kind']): Promise<StoredDraft[]> {
  const range = IDBKeyRange.bound([kind, -Infinity], [kind, Infinity]);
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
