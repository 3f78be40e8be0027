import { Button, Group, Modal, Progress, Radio, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { FrameListeners } from '../../engine/log/frames.ts';
import type { LiveConnection } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatExact } from '../../ui/format.ts';
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
    <Modal
      opened
      onClose={leave}
      title={t('tree.clearing.title')}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack gap="sm">
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {t('tree.clearing.at', { topic: node.path })}
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
  const words = (key: ClearScope): { count: number; shown: string } => ({
    count: counts[key],
    shown: formatExact(counts[key]),
  });
  return (
    <>
      <Text size="sm">{t('tree.clearing.lead')}</Text>
      <Radio.Group
        label={t('tree.clearing.scope')}
        description={t('tree.clearing.why')}
        value={scope}
        onChange={(value) => setScope(value === 'all' ? 'all' : 'retained')}
      >
        <Stack gap={6} my={6}>
          <Radio
            value="retained"
            disabled={counts.retained === 0}
            label={t('tree.clearing.retained', words('retained'))}
          />
          <Radio value="all" label={t('tree.clearing.all', words('all'))} />
        </Stack>
      </Radio.Group>
      <Group gap="xs" justify="flex-end">
        <Button variant="default" onClick={close} data-autofocus>
          {t('tree.clearing.cancel')}
        </Button>
        <Button
          color="red.9"
          disabled={!canBegin}
          title={canBegin ? undefined : t('tree.clearing.notConnected')}
          onClick={begin}
        >
          {t('tree.clearing.confirm', words(scope))}
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
  const words = t('tree.clearing.progress', { cleared: formatExact(cleared), total: formatExact(total) });
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
        {isDone ? `${words}. ${t(isWhole ? 'tree.clearing.done' : 'tree.clearing.stopped')}` : words}
      </Text>
      {firstFailure !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {t('tree.clearing.failed', {
            count: failed,
            shown: formatExact(failed),
            topic: firstFailure.topic,
            reason,
          })}
        </Text>
      )}
      <Group gap="xs" justify="flex-end">
        {isDone ? (
          <Button onClick={close}>{t('tree.clearing.close')}</Button>
        ) : (
          <Button variant="default" onClick={stop}>
            {t('tree.clearing.stop')}
          </Button>
        )}
      </Group>
    </>
  );
}
