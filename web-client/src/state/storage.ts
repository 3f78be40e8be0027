import { troubleOf } from '../engine/keep-trouble.ts';
import type { KeepTrouble } from '../engine/types.ts';
import { useStore } from './store.ts';

/** Shows the first problem with the browser's storage; the page goes on without storing. */
export function noteStorageTrouble(kind: KeepTrouble): void {
  if (useStore.getState().storageTrouble === undefined) useStore.setState({ storageTrouble: kind });
}

/** Stores or reads something. Resolves with undefined if the browser refuses. */
export async function tryStorage<T>(work: () => PromiseLike<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    noteStorageTrouble(troubleOf(error));
    return undefined;
  }
}
