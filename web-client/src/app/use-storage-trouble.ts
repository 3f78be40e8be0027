import { useEffect } from 'react';
import { t } from '../i18n/index.ts';
import { useStore } from '../state/store.ts';
import { say } from '../ui/notice.ts';

/** Shows a notice, once until it is closed, if the browser does not store the page's data. */
export function useStorageTrouble(): void {
  const trouble = useStore((state) => state.storageTrouble);
  useEffect(() => {
    if (trouble !== undefined) say({ kind: 'failed', text: t(`app.storage.${trouble}`) });
  }, [trouble]);
}
