import { create } from 'zustand';
import type { LoggedMessage } from '../../engine/types.ts';
import { type MessageFilter, NO_FILTER } from './message-filter.ts';

/** The state of the messages view of a connection that is kept while another view is open. */
export interface MessagesState {
  readonly filter: MessageFilter;
  /** The message in the details. */
  readonly selected: LoggedMessage | undefined;
}

const EMPTY: MessagesState = { filter: NO_FILTER, selected: undefined };

const useMessagesStore = create<Readonly<Record<string, MessagesState>>>(() => ({}));

export function useMessagesState(id: string): MessagesState {
  return useMessagesStore((states) => states[id] ?? EMPTY);
}

export function setMessagesState(id: string, changes: Partial<MessagesState>): void {
  useMessagesStore.setState((states) => ({ [id]: { ...(states[id] ?? EMPTY), ...changes } }));
}

export function setFilter(id: string, changes: Partial<MessageFilter>): void {
  const { filter } = useMessagesStore.getState()[id] ?? EMPTY;
  setMessagesState(id, { filter: { ...filter, ...changes } });
}
