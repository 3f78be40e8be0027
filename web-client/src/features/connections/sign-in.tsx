import { Button, Group, PasswordInput, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { connectWithSecrets } from '../../state/profiles.ts';
import { secretsOf } from '../../state/secrets.ts';
import { savedForm } from './connection-form.ts';

/** Asks for credentials where the broker has refused the connection, and connects with them. */
export function SignIn({ profile }: { readonly profile: ConnectionProfile }) {
  const [username, setUsername] = useState(profile.username);
  const [secrets, setSecrets] = useState<Secrets>(() => secretsOf(profile.id));
  const connect = (event: FormEvent): void => {
    event.preventDefault();
    const form = savedForm({ profile: { ...profile, username }, secrets });
    void connectWithSecrets(form.profile, form.secrets);
  };
  return (
    <form aria-label={t('connections.signIn')} onSubmit={connect}>
      <Group gap="xs" align="end" py={6}>
        <TextInput
          label={t('connections.editor.username')}
          autoComplete="username"
          spellCheck={false}
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
        <PasswordInput
          label={t('connections.editor.password')}
          autoComplete="current-password"
          miw={140}
          value={secrets.password ?? ''}
          onChange={(event) => setSecrets({ ...secrets, password: event.currentTarget.value })}
        />
        <PasswordInput
          label={t('connections.orToken')}
          autoComplete="off"
          miw={140}
          value={secrets.token ?? ''}
          onChange={(event) => setSecrets({ ...secrets, token: event.currentTarget.value })}
        />
        <Button type="submit">{t('connections.signInConnect')}</Button>
      </Group>
    </form>
  );
}
