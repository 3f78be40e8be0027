import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { formatCount, plural } from '../../ui/format.ts';
import type { AdminApi } from './admin-api.ts';
import { Refusal } from './refusal.tsx';
import { type Removal, removeTopics, topicsOf } from './remove-retained.ts';
import { useAction } from './use-action.ts';

/** A filter that the topics match, '' for all, and how many they are. */
export interface Chosen {
  readonly filter: string;
  readonly count: number;
}

interface RemoveRetainedDialogProps {
  readonly api: AdminApi;
  readonly chosen: Chosen;
  readonly close: () => void;
}

/** Asks for confirmation, removes many retained messages, and shows the progress. It can be stopped. */
export function RemoveRetainedDialog({ api, chosen, close }: RemoveRetainedDialogProps) {
  const abort = useRef<AbortController>(undefined);
  const [removal, setRemoval] = useState<Removal>();
  const [total, setTotal] = useState(chosen.count);
  const { error, isBusy, run } = useAction();
  useEffect(() => () => abort.current?.abort(), []);
  const remove = async (): Promise<void> => {
    const controller = new AbortController();
    abort.current = controller;
    const topics = await topicsOf(api, chosen.filter, controller.signal);
    setTotal(topics.length);
    setRemoval(await removeTopics(api, topics, setRemoval, controller.signal));
  };
  const isDone = removal !== undefined && !isBusy;
  const shown = formatCount(total);
  return (
    <Modal
      opened
      onClose={close}
      title={plural(total, `Remove ${shown} retained message?`, `Remove ${shown} retained messages?`)}
    >
      <Stack>
        {error !== undefined && <Refusal error={error} />}
        <Text size="sm">
          {chosen.filter === ''
            ? 'Later subscribers get none for these topics. Present ones are sent nothing.'
            : `All that fit ${chosen.filter} now. Later subscribers get none for these topics. Present ones are sent nothing.`}
        </Text>
        {removal !== undefined && (
          <>
            <Progress
              value={total === 0 ? 100 : (100 * removal.removed) / total}
              aria-label="Removed so far"
            />
            <Text size="sm" role="status">
              {`${formatCount(removal.removed)} of ${formatCount(total)} removed`}
              {removal.failed > 0 &&
                ` ${plural(removal.failed, `${removal.failed} failed: ${removal.problem ?? ''}`, `${removal.failed} failed, the first: ${removal.problem ?? ''}`)}`}
            </Text>
          </>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus>
            {isDone ? 'Close' : isBusy ? 'Stop' : 'Cancel'}
          </Button>
          {!isDone && (
            <Button color="red.9" loading={isBusy} onClick={() => void run(remove)}>
              {plural(total, `Remove ${shown} message`, `Remove ${shown} messages`)}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
