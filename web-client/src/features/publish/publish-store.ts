import { create } from 'zustand';
import type { LoggedMessage } from '../../engine/types.ts';
import { type Draft, EMPTY_DRAFT, NO_PROPERTIES } from '../../state/draft.ts';
import { draftOf } from './draft-request.ts';

/** What stands in the publish panel of each connection, by the connection's id. */
const useDrafts = create<Readonly<Record<string, Draft>>>(() => ({}));

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

/** Puts a message into the panel, to be changed and published again. */
export function editMessage(id: string, message: LoggedMessage): void {
  setDraft(id, draftOf(message));
}

/** Puts the answer to a request into the panel: its response topic, its correlation data, and no payload yet. */
export function answerTo(id: string, message: LoggedMessage): void {
  const { topic: _topic, ...draft } = draftOf(message);
  setDraft(id, {
    ...draft,
    topic: message.properties.responseTopic ?? '',
    retain: false,
    payload: '',
    properties: { ...NO_PROPERTIES, correlationText: draft.properties.correlationText },
  });
}
