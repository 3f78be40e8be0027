import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { connectWithSecrets } from '../../state/profiles.ts';
import { secretsOf } from '../../state/secrets.ts';
import { savedForm } from './connection-form.ts';
import { SecretInput } from './secret-input.tsx';

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
    <form aria-label="Sign in" onSubmit={connect}>
      <Group gap="xs" align="end" py={6}>
        <TextInput
          label="User name"
          autoComplete="username"
          spellCheck={false}
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
        <SecretInput name="password" miw={140} secrets={secrets} onChange={setSecrets} />
        <SecretInput name="token" label="or a token" miw={140} secrets={secrets} onChange={setSecrets} />
        <Button type="submit">Sign in</Button>
      </Group>
    </form>
  );
}
