import { Button, Group, PasswordInput, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { t } from '../../i18n/index.ts';
import classes from './admin-view.module.css';

interface KeyFormProps {
  readonly isDeployment: boolean;
  readonly onKey: (key: string) => void;
}

/** Asks for the API's key, which stays in memory. */
export function KeyForm({ isDeployment, onKey }: KeyFormProps) {
  const [key, setKey] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (key !== '') onKey(key);
  };
  return (
    <form className={classes.card} onSubmit={submit}>
      <Text size="sm" mb="xs">
        {t(isDeployment ? 'admin.keyTextDeployment' : 'admin.keyText')}
      </Text>
      <Group align="flex-end" gap="xs">
        <PasswordInput
          label={t('admin.key')}
          w={320}
          maw="100%"
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit" disabled={key === ''}>
          {t('admin.useKey')}
        </Button>
      </Group>
    </form>
  );
}
