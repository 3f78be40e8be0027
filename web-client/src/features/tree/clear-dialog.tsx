import { Button, Group, Modal, Progress, Radio, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { FrameListeners } from '../../engine/log/frames.ts';
import type { LiveConnection } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatExact, plural } from '../../ui/format.ts';
import { reasonWords, troubleSentence, troubleWords } from '../../ui/trouble.ts';
import { type ClearProgress, type ClearScope, clearRetained, topicsToClear } from './clear-retained.ts';
import type { TopicNode } from './topic-node.ts';

interface ClearDialogProps {
  readonly connection: LiveConnection;
  readonly node: TopicNode;
  readonly close: () => void;
}

/** Asks which retained messages to delete, and shows the progress. */
export function ClearDialog({ connection, node, close }: ClearDialogProps) {
  const { session } = useStatus(connection.id);
  const [scope, setScope] = useState<ClearScope>(node.retainedBelow > 0 ? 'retained' : 'all');
  const [progress, setProgress] = useState<ClearProgress>();
  const stop = useRef<() => void>(undefined);
  const begin = (): void => {
    const qos = session?.maximumQos === 0 ? 0 : 1;
    let latest: ClearProgress | undefined;
    // Thousands of answers come in a second; one update for each frame is enough.
    const frames = new FrameListeners();
    frames.add(() => setProgress(latest));
    stop.current = clearRetained(
      connection,
      topicsToClear(node, scope),
      { qos, receiveMaximum: session?.receiveMaximum },
      (progress) => {
        latest = progress;
        frames.changed();
      },
    );
  };
  const leave = (): void => {
    stop.current?.();
    close();
  };
  return (
    <Modal opened onClose={leave} title="Clear retained messages">
      <Stack gap="sm">
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {`At ${node.path} and below`}
        </Text>
        {progress === undefined ? (
          <Question
            node={node}
            scope={scope}
            setScope={setScope}
            canBegin={session !== undefined}
            begin={begin}
            close={close}
          />
        ) : (
          <Running progress={progress} stop={() => stop.current?.()} close={leave} />
        )}
      </Stack>
    </Modal>
  );
}

interface QuestionProps {
  readonly node: TopicNode;
  readonly scope: ClearScope;
  readonly setScope: (scope: ClearScope) => void;
  readonly canBegin: boolean;
  readonly begin: () => void;
  readonly close: () => void;
}

function Question({ node, scope, setScope, canBegin, begin, close }: QuestionProps) {
  const counts = { retained: node.retainedBelow, all: node.topicsBelow };
  const shown = { retained: formatExact(counts.retained), all: formatExact(counts.all) };
  return (
    <>
      <Text size="sm">
        An empty retained message is published to each topic, which removes what the broker keeps for it. This
        cannot be undone.
      </Text>
      <Radio.Group
        label="Which topics"
        description="A retained message that came live is not marked as one, so the tree may not know of it."
        value={scope}
        onChange={(value) => setScope(value === 'all' ? 'all' : 'retained')}
      >
        <Stack gap={6} my={6}>
          <Radio
            value="retained"
            disabled={counts.retained === 0}
            label={`${shown.retained} ${plural(counts.retained, 'topic that is', 'topics that are')} known to hold a retained message`}
          />
          <Radio
            value="all"
            label={plural(
              counts.all,
              `${shown.all} topic that a message came for`,
              `All ${shown.all} topics that a message came for`,
            )}
          />
        </Stack>
      </Radio.Group>
      <Group gap="xs" justify="flex-end">
        <Button variant="default" onClick={close} data-autofocus>
          Cancel
        </Button>
        <Button
          color="red.9"
          disabled={!canBegin}
          title={canBegin ? undefined : 'Connect first.'}
          onClick={begin}
        >
          {plural(counts[scope], `Clear ${shown[scope]} topic`, `Clear ${shown[scope]} topics`)}
        </Button>
      </Group>
    </>
  );
}

interface RunningProps {
  readonly progress: ClearProgress;
  readonly stop: () => void;
  readonly close: () => void;
}

function Running({ progress, stop, close }: RunningProps) {
  const { total, cleared, failed, firstFailure, isDone } = progress;
  const words = `${formatExact(cleared)} of ${formatExact(total)} cleared`;
  const isWhole = cleared + failed === total;
  const { outcome } = firstFailure ?? {};
  const reason =
    outcome?.trouble !== undefined
      ? troubleSentence(troubleWords(outcome.trouble))
      : outcome?.reasonCode === undefined
        ? ''
        : reasonWords(outcome.reasonCode).title;
  return (
    <>
      <Progress value={total === 0 ? 100 : ((cleared + failed) / total) * 100} aria-label={words} />
      <Text size="sm" role="status">
        {isDone ? `${words}. ${isWhole ? 'Done.' : 'Stopped.'}` : words}
      </Text>
      {firstFailure !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {plural(
            failed,
            `${formatExact(failed)} topic could not be cleared. ${firstFailure.topic}: ${reason}`,
            `${formatExact(failed)} topics could not be cleared. The first was ${firstFailure.topic}: ${reason}`,
          )}
        </Text>
      )}
      <Group gap="xs" justify="flex-end">
        {isDone ? (
          <Button onClick={close}>Close</Button>
        ) : (
          <Button variant="default" onClick={stop}>
            Stop
          </Button>
        )}
      </Group>
    </>
  );
}
