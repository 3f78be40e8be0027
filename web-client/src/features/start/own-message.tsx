import { Button, Checkbox, Group, SegmentedControl, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Qos } from '../../engine/types.ts';
import { say } from './demo.ts';

const LEVELS = [0, 1, 2] as const;

/** Says something as client A. */
export function OwnMessage({ isReady }: { readonly isReady: boolean }) {
  const [text, setText] = useState('');
  const [qos, setQos] = useState<Qos>(1);
  const [retain, setRetain] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // The other two cards show the outcome.
    void say(text, qos, retain).catch(() => {});
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        label="Publish something yourself"
        placeholder="A message …"
        mt="xs"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group gap="xs" mt={6}>
        <SegmentedControl
          aria-label="QoS"
          data={LEVELS.map((level) => ({ value: String(level), label: `QoS ${level}` }))}
          value={String(qos)}
          onChange={(value) => setQos(LEVELS.find((level) => String(level) === value) ?? 0)}
        />
        <Checkbox
          label="Retain"
          checked={retain}
          onChange={(event) => setRetain(event.currentTarget.checked)}
        />
        <Button type="submit" disabled={!isReady || text === ''} ml="auto">
          Publish
        </Button>
      </Group>
    </form>
  );
}
