import { Center, Loader } from '@mantine/core';
import { t } from '../i18n/index.ts';

/** Shown until the content has been loaded. */
export function Loading() {
  return (
    <Center h="100%" p="sm">
      <Loader size="sm" role="status" aria-label={t('app.loading')} />
    </Center>
  );
}
