import { useEffect } from 'react';
import { useStore } from '../state/store.ts';
import { say } from '../ui/notice.ts';
import { appWords } from './strings.ts';

/** Shows a notice, once until it is closed, if the browser does not store the page's data. */
export function useStorageTrouble(): void {
  const trouble = useStore((state) => state.storageTrouble);
  useEffect(() => {
    if (trouble !== undefined) say({ kind: 'failed', text: appWords.storage[trouble] });
  }, [trouble]);
}
