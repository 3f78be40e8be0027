import { Center, Loader } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Shown until the content has been loaded. */
export function Loading() {
  const { t } = useTranslation();
  return (
    <Center h="100%" p="sm">
      <Loader size="sm" role="status" aria-label={t('app.loading')} />
    </Center>
  );
}
