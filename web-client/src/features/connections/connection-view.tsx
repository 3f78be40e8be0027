import { Button, Grid, Group, Text, Title } from '@mantine/core';
import type { FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useActiveProfile, useStatus } from '../../state/hooks.ts';
import { connectProfile, profileOf, saveProfile } from '../../state/profiles.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { keepSecrets, secretsOf } from '../../state/secrets.ts';
import { ConnectionFacts } from './connection-facts.tsx';
import { type ConnectionForm, isUrlRight, savedForm } from './connection-form.ts';
import classes from './connection-view.module.css';
import { dropEdit, keepEdit, useEdits } from './edits-store.ts';
import { EmptyConnection } from './empty-connection.tsx';
import { GeneralFields } from './general-fields.tsx';
import { IdentityFields } from './identity-fields.tsx';
import { SessionFields } from './session-fields.tsx';
import { WillFields } from './will-fields.tsx';

/** A connection's whole configuration, and the server's answer to it. */
export function ConnectionView() {
  const profile = useActiveProfile();
  if (profile === undefined) return <EmptyConnection />;
  if (isRecording(profile.id)) return <NothingToEdit />;
  return <ConnectionEditor key={profile.id} profile={profile} />;
}

function NothingToEdit() {
  const { t } = useTranslation();
  return (
    <Text size="sm" p="md">
      {t('connections.recordingHint')}
    </Text>
  );
}

function ConnectionEditor({ profile }: { readonly profile: ConnectionProfile }) {
  const { t } = useTranslation();
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
        <Title order={2} size="h4" mb="sm">
          {t('connections.editor.title')}
        </Title>
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 8 }}>
            <GeneralFields form={form} onChange={change} />
            <IdentityFields form={form} onChange={change} />
            <SessionFields form={form} onChange={change} />
            <WillFields form={form} onChange={change} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 4 }}>
            <ConnectionFacts id={profile.id} />
          </Grid.Col>
        </Grid>
      </div>
      <Group className={classes.actions} gap="xs">
        <Text size="xs" c="dimmed" mr="auto" role="status">
          {isChanged ? t('connections.editor.unsaved') : ''}
        </Text>
        <Button px="xs" variant="subtle" disabled={!isChanged} onClick={discard}>
          {t('connections.editor.discard')}
        </Button>
        <Button px="xs" variant="default" disabled={!isChanged} onClick={() => void save()}>
          {t('connections.editor.save')}
        </Button>
        <Button px="xs" type="submit" disabled={!isUrlRight(form.profile.url)}>
          {isOpen ? t('connections.editor.saveAndReconnect') : t('connections.editor.saveAndConnect')}
        </Button>
      </Group>
    </form>
  );
}
