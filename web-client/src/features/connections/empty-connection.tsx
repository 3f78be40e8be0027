import { Button, Center, EmptyState } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useStore } from '../../state/store.ts';

/** Shown by a view of a connection if there is none. */
export function EmptyConnection() {
  const { t } = useTranslation();
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
