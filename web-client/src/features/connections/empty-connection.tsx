import { Button, Center, EmptyState } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { t } from '../../i18n/index.ts';
import { useStore } from '../../state/store.ts';

/** Shown by a view of a connection if there is none. */
export function EmptyConnection() {
  const add = (): void => useStore.setState({ question: { type: 'new' } });
  return (
    <Center p="md">
      <EmptyState
        icon={<IconPlugConnected />}
        title={t('connections.none')}
        description={t('connections.noneAdvice')}
      >
        <Button onClick={add}>{t('connections.add')}</Button>
      </EmptyState>
    </Center>
  );
}
