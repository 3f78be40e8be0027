import { liveQuery } from 'dexie';
import { useEffect, useState } from 'react';
import { newId } from '../../engine/new-profile.ts';
import { database, type StoredDraft } from '../../state/database.ts';
import type { Draft } from '../../state/draft.ts';
import { noteStorageTrouble, tryStorage } from '../../state/storage.ts';

/** Messages in the history; the oldest go. */
const HISTORY_MAX = 100;

/** Notes what was published. The same message twice in a row is noted once. */
export async function remember(draft: Draft): Promise<void> {
  await tryStorage(async () => {
    const history = await list('history');
    const [last] = history;
    if (last !== undefined && JSON.stringify(last.draft) === JSON.stringify(draft)) return;
    await database.drafts.put({ id: newId(), name: '', kind: 'history', atMs: Date.now(), draft });
    await database.drafts.bulkDelete(history.slice(HISTORY_MAX - 1).map(({ id }) => id));
  });
}

export async function saveTemplate(name: string, draft: Draft): Promise<void> {
  const template = { id: newId(), name, kind: 'template', atMs: Date.now(), draft } as const;
  await tryStorage(() => database.drafts.put(template));
}

export async function deleteDraft(id: string): Promise<void> {
  await tryStorage(() => database.drafts.delete(id));
}

export async function clearHistory(): Promise<void> {
  const ofHistory = database.drafts
    .where('[kind+atMs]')
    .between(['history', -Infinity], ['history', Infinity]);
  await tryStorage(() => ofHistory.delete());
}

/** The history or the templates, newest first, as they change. */
export function useArchive(kind: StoredDraft['kind']): readonly StoredDraft[] {
  const [drafts, setDrafts] = useState<readonly StoredDraft[]>([]);
  useEffect(() => {
    const subscription = liveQuery(() => list(kind)).subscribe(setDrafts, () =>
      noteStorageTrouble('unavailable'),
    );
    return () => subscription.unsubscribe();
  }, [kind]);
  return drafts;
}

function list(kind: StoredDraft['kind']): Promise<StoredDraft[]> {
  return database.drafts
    .where('[kind+atMs]')
    .between([kind, -Infinity], [kind, Infinity])
    .reverse()
    .toArray();
}
