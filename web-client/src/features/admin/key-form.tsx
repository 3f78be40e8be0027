import { Button, Group, PasswordInput, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
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
        {isDeployment
          ? 'The API of this deployment needs the key whose hash it was deployed with (--http-api-key-sha256). This page keeps it as long as it is open.'
          : 'The API of this broker needs a key: the text in the file of --api-key-file. This page keeps it as long as it is open.'}
      </Text>
      <Group align="flex-end" gap="xs">
        <PasswordInput
          label="Key of the API"
          w={320}
          maw="100%"
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit" disabled={key === ''}>
          Use it
        </Button>
      </Group>
    </form>
  );
}
