import { Button, Drawer, Group, Text } from '@mantine/core';
import type { FormEvent } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { connectProfile, profileOf, saveProfile } from '../../state/profiles.ts';
import { keepSecrets, secretsOf } from '../../state/secrets.ts';
import { useStore } from '../../state/store.ts';
import classes from './connection-drawer.module.css';
import { ConnectionFacts } from './connection-facts.tsx';
import { type ConnectionForm, isUrlRight, savedForm } from './connection-form.ts';
import { dropEdit, keepEdit, useEdits } from './edits-store.ts';
import { GeneralFields } from './general-fields.tsx';
import { IdentityFields } from './identity-fields.tsx';
import { SessionFields } from './session-fields.tsx';
import { WillFields } from './will-fields.tsx';

interface ConnectionDrawerProps {
  readonly id: string;
  readonly close: () => void;
}

/** A connection's whole configuration, and the server's answer to it. What is not saved is there again. */
export function ConnectionDrawer({ id, close }: ConnectionDrawerProps) {
  const profile = useStore((state) => state.profiles.find((known) => known.id === id));
  if (profile === undefined) return null;
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size={760}
      padding={0}
      title={`Connection “${profile.name}”`}
      classNames={{ header: classes.header, content: classes.drawer, body: classes.body }}
    >
      <ConnectionEditor profile={profile} close={close} />
    </Drawer>
  );
}

interface ConnectionEditorProps {
  readonly profile: ConnectionProfile;
  readonly close: () => void;
}

function ConnectionEditor({ profile, close }: ConnectionEditorProps) {
  const edited = useEdits((edits) => edits[profile.id]);
  const form = edited ?? { profile, secrets: secretsOf(profile.id) };
  const isChanged = edited !== undefined;
  const { phase } = useStatus(profile.id);
  const isOpen = phase !== 'idle' && phase !== 'failed';

  const change = (next: ConnectionForm): void => keepEdit(profile.id, next);
  const save = async (): Promise<ConnectionProfile> => {
    const saved = savedForm(form);
    // Subscriptions are edited elsewhere, perhaps meanwhile.
    const subscriptions = profileOf(profile.id)?.subscriptions ?? [];
    const next = { ...saved.profile, subscriptions };
    // The page uses both at once, and stores them after that.
    const written = [keepSecrets(next, saved.secrets), saveProfile(next)];
    dropEdit(profile.id);
    close();
    await Promise.all(written);
    return next;
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!isUrlRight(form.profile.url)) return;
    const { id } = await save();
    connectProfile(id);
  };
  const discard = (): void => dropEdit(profile.id);

  return (
    <form className={classes.view} onSubmit={(event) => void submit(event)} noValidate>
      <div className={classes.content}>
        <GeneralFields form={form} onChange={change} />
        <IdentityFields form={form} onChange={change} />
        <SessionFields form={form} onChange={change} />
        <WillFields form={form} onChange={change} />
        <ConnectionFacts id={profile.id} />
      </div>
      <Group className={classes.actions} gap="xs">
        <Text size="xs" c="dimmed" mr="auto" role="status">
          {isChanged ? 'Unsaved changes' : ''}
        </Text>
        <Button px="xs" variant="subtle" disabled={!isChanged} onClick={discard}>
          Discard changes
        </Button>
        <Button px="xs" variant="default" disabled={!isChanged} onClick={() => void save()}>
          Save
        </Button>
        <Button px="xs" type="submit" disabled={!isUrlRight(form.profile.url)}>
          {isOpen ? 'Save and reconnect' : 'Save and connect'}
        </Button>
      </Group>
    </form>
  );
}
