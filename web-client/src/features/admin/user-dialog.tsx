import type { UserLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Button, Group, Modal, PasswordInput, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { AdminApi } from './admin-api.ts';
import { Refusal } from './refusal.tsx';
import { useAction } from './use-action.ts';

interface UserDialogProps {
  readonly api: AdminApi;
  /** Undefined: another one is added. */
  readonly user: UserLine | undefined;
  readonly close: () => void;
  readonly done: () => void;
}

/** Adds a user, or sets its rules and its password. The broker stores the hash of the password alone. */
export function UserDialog({ api, user, close, done }: UserDialogProps) {
  const [name, setName] = useState(user?.name ?? '');
  const [password, setPassword] = useState('');
  const [publish, setPublish] = useState((user?.publish ?? []).join('\n'));
  const [subscribe, setSubscribe] = useState((user?.subscribe ?? []).join('\n'));
  const { error, isBusy, run } = useAction();
  const hasRules = (user?.rules?.length ?? 0) > 0;
  const isComplete = name.trim() !== '' && (user !== undefined || password !== '');
  const save = async (): Promise<void> => {
    const fields = {
      ...(password !== '' && { plain_password: password }),
      // A user with rules may have no lists beside them.
      ...((!hasRules || publish !== '' || user?.publish !== undefined) && { publish: filtersIn(publish) }),
      ...((!hasRules || subscribe !== '' || user?.subscribe !== undefined) && {
        subscribe: filtersIn(subscribe),
      }),
    };
    if (user === undefined) await api.post('/users', { name: name.trim(), ...fields });
    else await api.put(pathWith('/users/:name', { name: user.name }), fields);
    close();
    done();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void run(save);
  };
  return (
    <Modal opened onClose={close} title={user === undefined ? 'A user' : `Edit ${name}`}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {error !== undefined && <Refusal error={error} />}
          {user === undefined && (
            <TextInput
              label="Name"
              spellCheck={false}
              autoComplete="off"
              data-autofocus
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          )}
          <PasswordInput
            label={user === undefined ? 'Password' : 'New password'}
            description={user === undefined ? undefined : 'Empty: it stays as it is'}
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Filters label="May publish to" value={publish} onChange={setPublish} />
          <Filters label="May subscribe to" value={subscribe} onChange={setSubscribe} />
          {hasRules && (
            <Text size="xs" c="dimmed">
              This user has rules in the file as well; they stay as they are.
            </Text>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={isBusy} disabled={!isComplete}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface FiltersProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Filters({ label, value, onChange }: FiltersProps) {
  return (
    <Textarea
      label={label}
      description="Topic filters, one a line; # is every topic"
      autosize
      minRows={2}
      maxRows={8}
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function filtersIn(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
