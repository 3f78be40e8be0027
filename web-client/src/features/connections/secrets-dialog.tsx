import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { connectWithSecrets } from '../../state/profiles.ts';
import { secretsOf } from '../../state/secrets.ts';
import { SecretInput } from './secret-input.tsx';

interface DialogProps {
  readonly profile: ConnectionProfile;
  readonly close: () => void;
}

/** Asks for the secrets that a connection needs and that were not stored. */
export function SecretsDialog({ profile, close }: DialogProps) {
  const [secrets, setSecrets] = useState<Secrets>(() => secretsOf(profile.id));
  const [storeSecrets, setStoreSecrets] = useState(profile.storeSecrets);
  const connect = (event: FormEvent): void => {
    event.preventDefault();
    const given = {
      ...secrets,
      ...(profile.needs.password && { password: secrets.password ?? '' }),
      ...(profile.needs.token && { token: secrets.token ?? '' }),
    };
    close();
    void connectWithSecrets({ ...profile, storeSecrets }, given);
  };
  return (
    <Modal opened onClose={close} title={`Secrets for “${profile.name}”`}>
      <form onSubmit={connect}>
        <Stack gap="sm">
          <Text size="sm">They are kept as long as this page is open.</Text>
          {profile.needs.password && (
            <SecretInput name="password" data-autofocus secrets={secrets} onChange={setSecrets} />
          )}
          {profile.needs.token && <SecretInput name="token" secrets={secrets} onChange={setSecrets} />}
          <Checkbox
            label="Store the secrets in this browser"
            description="Unencrypted, for anybody who uses this browser profile. Otherwise you are asked again."
            checked={storeSecrets}
            onChange={(event) => setStoreSecrets(event.currentTarget.checked)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit">Connect</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
