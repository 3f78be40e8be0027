import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useLayoutEffect, useRef, useState } from 'react';
import { Refusal } from './refusal.tsx';
import { useAction } from './use-action.ts';

interface ConfirmButtonProps {
  /** The action and its object: its name for screen readers, and the title of the question. */
  readonly label: string;
  /** The short name of the action, shown on the button. */
  readonly short: string;
  readonly question: string;
  readonly act: () => Promise<void>;
  readonly done: () => void;
}

/** Asks before an action that cannot be undone. */
export function ConfirmButton({ label, short, question, act, done }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const { error, isBusy, run } = useAction();
  const button = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  useLayoutEffect(() => {
    wasAsking.current = isAsking;
  }, [isAsking]);
  // The row disappears with what was removed, perhaps before its dialog has closed: its table gets the focus.
  useLayoutEffect(() => {
    const { current } = button;
    return () => {
      if (document.activeElement === current || wasAsking.current)
        current?.closest<HTMLElement>('[tabindex="0"]')?.focus();
    };
  }, []);
  const close = (): void => setAsking(false);
  const confirm = async (): Promise<void> => {
    await act();
    close();
    done();
  };
  return (
    <>
      <Button
        ref={button}
        variant="default"
        size="compact-xs"
        aria-label={label}
        onClick={() => setAsking(true)}
      >
        {short}
      </Button>
      <Modal opened={isAsking} onClose={close} title={label}>
        <Stack>
          {error !== undefined && <Refusal error={error} />}
          <Text size="sm">{question}</Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button color="red.9" loading={isBusy} onClick={() => void run(confirm)}>
              {short}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
