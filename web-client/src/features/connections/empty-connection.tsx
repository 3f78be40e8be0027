import { Button, Center, EmptyState } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { newProfile } from '../../engine/new-profile.ts';
import { addProfile } from '../../state/profiles.ts';
import { openView } from '../../state/routes.ts';

/** What a view of a connection shows where there is none. */
export function EmptyConnection() {
  const { t } = useTranslation();
  const add = async (): Promise<void> => {
    await addProfile(newProfile('', t('connections.newName')));
    openView('connection');
  };
  return (
    <Center p="md">
      <EmptyState
        icon={<IconPlugConnected />}
        title={t('connections.none')}
        description={t('connections.noneAdvice')}
      >
        <Button onClick={() => void add()}>{t('connections.add')}</Button>
      </EmptyState>
    </Center>
  );
}
