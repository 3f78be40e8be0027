import { Button, Checkbox, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { connectWithSecrets } from '../../state/profiles.ts';
import { secretsOf } from '../../state/secrets.ts';

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
    <Modal
      opened
      onClose={close}
      title={t('connections.secretsTitle', { name: profile.name })}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <form onSubmit={connect}>
        <Stack gap="sm">
          <Text size="sm">{t('connections.secretsText')}</Text>
          {profile.needs.password && (
            <PasswordInput
              label={t('connections.editor.password')}
              autoComplete="current-password"
              data-autofocus
              value={secrets.password ?? ''}
              onChange={(event) => setSecrets({ ...secrets, password: event.currentTarget.value })}
            />
          )}
          {profile.needs.token && (
            <PasswordInput
              label={t('connections.editor.token')}
              autoComplete="off"
              value={secrets.token ?? ''}
              onChange={(event) => setSecrets({ ...secrets, token: event.currentTarget.value })}
            />
          )}
          <Checkbox
            label={t('connections.editor.storeSecrets')}
            description={t('connections.editor.storeSecretsHint')}
            checked={storeSecrets}
            onChange={(event) => setStoreSecrets(event.currentTarget.checked)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t('app.cancel')}
            </Button>
            <Button type="submit">{t('connections.connect')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
