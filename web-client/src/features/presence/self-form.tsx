import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ConnectionProfile, Trouble } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { useStatus } from '../../state/hooks.ts';
import { troubleSentence, troubleWords } from '../../ui/trouble.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { enter, type Join, joinIn, leave, useJoins } from './joins.ts';
import classes from './presence.module.css';
import { isName } from './topics.ts';

interface SelfFormProps {
  readonly profile: ConnectionProfile;
  readonly room: string;
}

/** Enters the room and leaves it. */
export function SelfForm({ profile, room }: SelfFormProps) {
  const { phase, session } = useStatus(profile.id);
  const present = useJoins(({ joined }) => joinIn(joined[profile.id], room));
  const [form, setForm] = useState<{ readonly member?: string; readonly data: string }>({ data: 'online' });
  const [trouble, setTrouble] = useState<Trouble>();
  // By the usual rules a member is the user's name, or the client identifier.
  const usual = profile.username || session?.clientId || profile.clientId;
  const member = form.member ?? present?.member ?? usual;
  const { data } = form;
  const join: Join = { room, member, data };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTrouble((await enter(profile.id, join)).trouble);
  };
  const go = async (gone: Join): Promise<void> => setTrouble((await leave(profile.id, gone)).trouble);
  const isWrong = member !== '' && !isName(member);
  return (
    <form className={classes.self} onSubmit={submit} aria-label={t('presence.self')}>
      <Stack gap="xs">
        <Title order={2} size="xs">
          {t('presence.self')}
        </Title>
        <TextInput
          label={t('presence.member')}
          spellCheck={false}
          value={member}
          error={isWrong ? t('presence.badName') : undefined}
          onChange={({ currentTarget }) => setForm({ ...form, member: currentTarget.value })}
        />
        <TextInput
          label={t('presence.data')}
          description={t('presence.dataHint')}
          spellCheck={false}
          value={data}
          onChange={({ currentTarget }) => setForm({ ...form, data: currentTarget.value })}
        />
        <Group gap="xs">
          <Button type="submit" disabled={phase !== 'connected' || !isName(member) || data === ''}>
            {t(present?.member === member ? 'presence.change' : 'presence.enter')}
          </Button>
          {present !== undefined && (
            <Button variant="default" onClick={() => void go(present)}>
              {t('presence.leave')}
            </Button>
          )}
        </Group>
        <Text size="xs" c="dimmed" role="status">
          {present === undefined
            ? t('presence.selfHint')
            : t('presence.present', { room: visibleText(room), member: visibleText(present.member) })}
        </Text>
        {trouble !== undefined && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {troubleSentence(troubleWords(trouble))}
          </Text>
        )}
      </Stack>
    </form>
  );
}
