import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type AdminApi, BAN_KINDS, type BanKind } from './admin-api.ts';
import { Refusal } from './refusal.tsx';
import { adminWords } from './strings.ts';
import { useAction } from './use-action.ts';

/** How long a ban lasts, in milliseconds; undefined until it is lifted. */
const DURATIONS = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  forever: undefined,
} as const;

const DURATION_NAMES = ['hour', 'day', 'week', 'forever'] as const;

interface BanDialogProps {
  readonly api: AdminApi;
  /** The client to ban, if it is already known. */
  readonly whom?: { readonly as: BanKind; readonly who: string };
  readonly close: () => void;
  readonly done: () => void;
}

/** Asks which client to ban, for how long and why. */
export function BanDialog({ api, whom, close, done }: BanDialogProps) {
  const [kind, setKind] = useState<BanKind>(whom?.as ?? 'clientid');
  const [who, setWho] = useState(whom?.who ?? '');
  const [reason, setReason] = useState('');
  const [duration, setDuration] = useState<(typeof DURATION_NAMES)[number]>('hour');
  const { error, isBusy, run } = useAction();
  const ban = async (): Promise<void> => {
    const lastsMs = DURATIONS[duration];
    const until = lastsMs === undefined ? 'infinity' : new Date(Date.now() + lastsMs).toISOString();
    await api.post('/banned', { as: kind, who: who.trim(), reason, until });
    close();
    done();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void run(ban);
  };
  return (
    <Modal opened onClose={close} title="Keep a client out">
      <form onSubmit={submit}>
        <Stack gap="sm">
          {error !== undefined && <Refusal error={error} />}
          <Select
            label="Kind"
            data={BAN_KINDS.map((value) => ({ value, label: adminWords.ban.kinds[value] }))}
            value={kind}
            onChange={(value) => value !== null && setKind(value)}
          />
          <TextInput
            label="Who"
            description={adminWords.ban.hints[kind]}
            spellCheck={false}
            data-autofocus
            value={who}
            onChange={(event) => setWho(event.currentTarget.value)}
          />
          <Select
            label="For how long"
            data={DURATION_NAMES.map((value) => ({ value, label: adminWords.ban.durations[value] }))}
            value={duration}
            onChange={(value) => value !== null && setDuration(value)}
          />
          <TextInput
            label="Reason"
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <Text size="xs" c="dimmed">
            {api.isDeployment
              ? 'The broker ends matching connections (0x98), and refuses them from then on (0x8A). This takes most of a minute.'
              : 'The broker ends matching connections at once, at both doors (0x98), and refuses them from then on (0x8A).'}
          </Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" color="red.9" loading={isBusy} disabled={who.trim() === ''}>
              Ban
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
