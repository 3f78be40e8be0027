import { Alert, Button, Checkbox, Text } from '@mantine/core';
import { useState } from 'react';
import { t } from '../../i18n/index.ts';
import { addProfiles } from '../../state/profiles.ts';
import { keepSecrets } from '../../state/secrets.ts';
import { type FiledConnection, hasSecrets } from './connections-file.ts';
import { Names } from './names.tsx';

interface FoundConnectionsProps {
  readonly connections: readonly FiledConnection[];
}

/** Connections of a file: what they are called, and a button that adds them. */
export function FoundConnections({ connections }: FoundConnectionsProps) {
  const [storeSecrets, setStoreSecrets] = useState(false);
  const [isAdded, setAdded] = useState(false);
  const count = connections.length;
  const add = async (): Promise<void> => {
    const kept = connections.map(({ profile, secrets }) => ({
      profile: { ...profile, storeSecrets: storeSecrets && hasSecrets({ profile, secrets }) },
      secrets,
    }));
    await Promise.all([
      ...kept.map(({ profile, secrets }) => keepSecrets(profile, secrets)),
      addProfiles(kept.map(({ profile }) => profile)),
    ]);
    setAdded(true);
  };
  return (
    <>
      <Text size="sm">{t('transfer.foundConnections', { count })}</Text>
      <Names names={connections.map(({ profile: { id, name, url } }) => ({ id, name, detail: url }))} />
      {connections.some(hasSecrets) && (
        <Alert variant="light" color="yellow" mb="xs" p="xs">
          <Text size="xs" mb={6}>
            {t('transfer.holdsSecrets')}
          </Text>
          <Checkbox
            label={t('transfer.storeSecrets')}
            description={t('transfer.storeSecretsHint')}
            checked={storeSecrets}
            disabled={isAdded}
            onChange={(event) => setStoreSecrets(event.currentTarget.checked)}
          />
        </Alert>
      )}
      {isAdded ? (
        <Text size="sm" fw={600}>
          {t('transfer.addedConnections', { count })}
        </Text>
      ) : (
        <Button disabled={count === 0} onClick={() => void add()}>
          {t('transfer.addConnections', { count })}
        </Button>
      )}
    </>
  );
}
