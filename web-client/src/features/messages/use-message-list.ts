import { useSyncExternalStore } from 'react';
import type { MessageList } from './message-list.ts';

/** Renders once per frame while the list changes. */
export function useMessageList(list: MessageList): void {
  useSyncExternalStore(
    (changed) => list.onFrame(changed),
    () => list.version,
  );
}
