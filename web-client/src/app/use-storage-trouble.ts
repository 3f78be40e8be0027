import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from '../state/store.ts';
import { say } from '../ui/notice.ts';

/** Shows a notice, once until it is closed, if the browser does not store the page's data. */
export function useStorageTrouble(): void {
  const { t } = useTranslation();
  const trouble = useStore((state) => state.storageTrouble);
  useEffect(() => {
    if (trouble !== undefined) say({ kind: 'failed', text: t(`app.storage.${trouble}`) });
  }, [t, trouble]);
}
