import { Alert, Button, Checkbox, Text } from '@mantine/core';
import { useState } from 'react';
import { addProfiles } from '../../state/profiles.ts';
import { keepSecrets } from '../../state/secrets.ts';
import { plural } from '../../ui/format.ts';
import { type FiledConnection, hasSecrets } from './connections-file.ts';
import classes from './transfer.module.css';

/** Names that are shown of a file; the others are counted. */
const SHOWN_MAX = 12;

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
      <Text size="sm">{plural(count, `${count} connection`, `${count} connections`)}</Text>
      <ul className={classes.names}>
        {connections.slice(0, SHOWN_MAX).map(({ profile: { id, name, url } }) => (
          <li key={id}>
            {name} <code>{url}</code>
          </li>
        ))}
        {count > SHOWN_MAX && <li>{`and ${count - SHOWN_MAX} more`}</li>}
      </ul>
      {connections.some(hasSecrets) && (
        <Alert variant="light" color="yellow" mb="xs" p="xs">
          <Text size="xs" mb={6}>
            The file holds secrets. They are kept as long as this page is open.
          </Text>
          <Checkbox
            label="Store them in this browser"
            description="Unencrypted, for anybody who uses this browser profile."
            checked={storeSecrets}
            disabled={isAdded}
            onChange={(event) => setStoreSecrets(event.currentTarget.checked)}
          />
        </Alert>
      )}
      {isAdded ? (
        <Text size="sm" fw={600}>
          {plural(
            count,
            'Added one connection. It is not connected before you say so.',
            `Added ${count} connections. None is connected before you say so.`,
          )}
        </Text>
      ) : (
        <Button disabled={count === 0} onClick={() => void add()}>
          {plural(count, 'Add it', `Add ${count} connections`)}
        </Button>
      )}
    </>
  );
}
