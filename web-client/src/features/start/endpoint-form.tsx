import { Button, Stack, Text, Title } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { newProfile } from '../../engine/new-profile.ts';
import { addProfile, connectProfile } from '../../state/profiles.ts';
import { keepSecrets } from '../../state/secrets.ts';
import { isUrlRight, savedForm } from '../connections/connection-form.ts';
import { UrlInput } from '../connections/url-input.tsx';
import classes from './start-view.module.css';

/** Asks for the broker's address: a page on static files does not know it. */
export function EndpointForm() {
  const [url, setUrl] = useState('');
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const { profile, secrets } = savedForm({ profile: newProfile(url.trim(), nameOf(url)), secrets: {} });
    await addProfile(profile);
    await keepSecrets(profile, secrets);
    connectProfile(profile.id);
  };
  return (
    <form className={`${classes.card} ${classes.endpoint}`} onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Title order={2} className={classes.title}>
          Where is your broker?
        </Title>
        <Text size="sm" c="dimmed">
          This page runs in your browser and connects straight to it, over WebSocket.
        </Text>
        <UrlInput size="sm" label="WebSocket URL" autoFocus value={url} onChange={setUrl} />
        <Button
          type="submit"
          size="sm"
          leftSection={<IconPlugConnected size={16} />}
          disabled={!isUrlRight(url)}
        >
          Connect
        </Button>
        <Text size="xs" c="dimmed">
          User name, token and all other options are under Connection.
        </Text>
      </Stack>
    </form>
  );
}

function nameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}
