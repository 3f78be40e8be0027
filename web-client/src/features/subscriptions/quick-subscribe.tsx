import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { newSubscription } from '../../engine/new-profile.ts';
import type { ConnectionProfile, Qos, Subscription } from '../../engine/types.ts';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { filterProblem, isTaken } from './filter-problem.ts';
import classes from './subscription-panel.module.css';

const LEVELS = [0, 1, 2] as const;

interface QuickSubscribeProps {
  readonly profile: ConnectionProfile;
  readonly onSubscribe: (subscription: Subscription) => void;
}

/** A filter, a QoS and Enter. */
export function QuickSubscribe({ profile, onSubscribe }: QuickSubscribeProps) {
  const [filter, setFilter] = useState('');
  const [qos, setQos] = useState<Qos>(1);
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => provideShortcut('subscribe', () => input.current?.focus()), []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const found = isTaken(filter, profile.subscriptions)
      ? 'There is a subscription to this filter already.'
      : filterProblem(filter);
    setProblem(found);
    if (found !== undefined) return;
    onSubscribe({ ...newSubscription(filter, profile.subscriptions.length), qos });
    setFilter('');
  };
  return (
    <form className={classes.quick} onSubmit={submit}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <TextInput
          ref={input}
          flex={1}
          aria-label="Topic filter"
          placeholder="home/#"
          spellCheck={false}
          value={filter}
          error={problem}
          onKeyDown={({ key }) => {
            if (key !== 'Escape') return;
            setFilter('');
            setProblem(undefined);
          }}
          onChange={(event) => {
            setFilter(event.currentTarget.value);
            setProblem(undefined);
          }}
        />
        <NativeSelect
          w={52}
          size="xs"
          aria-label="QoS"
          data={LEVELS.map(String)}
          value={String(qos)}
          onChange={({ currentTarget: { value } }) =>
            setQos(LEVELS.find((level) => String(level) === value) ?? 0)
          }
        />
        <Button type="submit" px="xs" disabled={filter === ''}>
          Subscribe
        </Button>
      </Group>
    </form>
  );
}
