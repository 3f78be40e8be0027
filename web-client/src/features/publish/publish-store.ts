import { create } from 'zustand';
import type { LoggedMessage } from '../../engine/types.ts';
import { type Draft, EMPTY_DRAFT, NO_PROPERTIES } from '../../state/draft.ts';
import { setLayout } from '../../state/layout.ts';
import { runNextShortcut } from '../../ui/shortcut-actions.ts';
import { draftOf } from './draft-request.ts';
import { type Drafts, keepDrafts, keptDrafts } from './kept-drafts.ts';

/** The draft in the publish panel of each connection, by the connection's id. */
const useDrafts = create<Drafts>(() => keptDrafts());

/** While the user types, the drafts are saved this often; and when the page is left. */
const KEEP_MS = 500;

let keeping: ReturnType<typeof setTimeout> | undefined;

function keepNow(): void {
  clearTimeout(keeping);
  keeping = undefined;
  keepDrafts(useDrafts.getState());
}

useDrafts.subscribe(() => {
  keeping ??= setTimeout(keepNow, KEEP_MS);
});
globalThis.addEventListener?.('pagehide', () => {
  if (keeping !== undefined) keepNow();
});

const FIRST_DRAFT: Draft = { ...EMPTY_DRAFT, topic: 'hello/world', payload: '{\n  "hello": "world"\n}' };

export function useDraft(id: string): Draft {
  return useDrafts((drafts) => drafts[id] ?? FIRST_DRAFT);
}

export function currentDraft(id: string): Draft {
  return useDrafts.getState()[id] ?? FIRST_DRAFT;
}

export function setDraft(id: string, changes: Partial<Draft>): void {
  useDrafts.setState({ [id]: { ...currentDraft(id), ...changes } });
}

/** Opens the panel if it is folded, and focuses its topic. */
export function unfoldPublish(): void {
  runNextShortcut('publish');
  setLayout({ isPublishFolded: false });
}

/** Puts a message into the panel, to be changed and published again. */
export function editMessage(id: string, message: LoggedMessage): void {
  setLayout({ isPublishFolded: false });
  setDraft(id, draftOf(message));
}

/** Puts the answer to a request into the panel: its response topic, its correlation data, and no payload yet. */
export function answerTo(id: string, message: LoggedMessage): void {
  setLayout({ isPublishFolded: false });
  const { topic: _topic, ...draft } = draftOf(message);
  setDraft(id, {
    ...draft,
    topic: message.properties.responseTopic ?? '',
    retain: false,
    payload: '',
    properties: { ...NO_PROPERTIES, correlationText: draft.properties.correlationText },
  });
}
