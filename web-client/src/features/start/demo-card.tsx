import { validateTopicName } from '@apus/mqtt/topic';
import { Badge, Button, Group, Loader, Text, TextInput } from '@mantine/core';
import { IconCircle, IconCircleCheckFilled, IconRefresh, IconRotateClockwise } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatDuration } from '../../ui/format.ts';
import { TroubleAlert } from '../connections/trouble-alert.tsx';
import { CodeCard } from './code-card.tsx';
import {
  chooseTopic,
  comeAgain,
  type DemoState,
  type DemoStep,
  runDemo,
  STEPS,
  stopDemo,
  useDemo,
} from './demo.ts';
import { Ladder } from './ladder.tsx';
import { OwnMessage } from './own-message.tsx';
import classes from './start-view.module.css';

const STEPS_OF_A = STEPS.filter((step) => step !== 'newcomer');

/** The live example. It publishes nothing before its user starts it, and then below a topic that the user chooses. */
export function DemoCard({ profile }: { readonly profile: ConnectionProfile }) {
  const { phase } = useStatus(profile.id);
  const demo = useDemo();
  const isConnected = phase === 'connected';
  const isTopic = demo.topic !== '' && validateTopicName(demo.topic) === undefined;
  useEffect(() => {
    if (!isConnected) void stopDemo();
  }, [isConnected]);
  useEffect(() => () => void (useDemo.getState().phase !== 'idle' && stopDemo()), []);
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" maw={720}>
          {t('start.intro', { topic: demo.topic })}
          {!isConnected && ` ${t('start.notConnectedText')}`}
        </Text>
        <TextInput
          label={t('start.topic')}
          spellCheck={false}
          error={isTopic ? undefined : t('start.topicWrong')}
          disabled={demo.phase === 'running'}
          value={demo.topic}
          onChange={(event) => void chooseTopic(event.currentTarget.value)}
        />
        <Button
          variant={demo.phase === 'idle' ? 'filled' : 'default'}
          leftSection={
            demo.phase === 'running' ? <Loader size={12} /> : <IconRotateClockwise size={14} stroke={1.5} />
          }
          disabled={!isConnected || !isTopic || demo.phase === 'running'}
          onClick={() => void runDemo(profile)}
        >
          {demo.phase === 'running'
            ? t('start.running')
            : demo.phase === 'idle'
              ? t('start.run')
              : t('start.again')}
        </Button>
      </Group>
      {demo.phase === 'failed' && <Failure demo={demo} />}
      <div className={classes.demo}>
        <section className={`${classes.card} ${classes.a}`} aria-label={t('start.clientA')}>
          <Text component="h3" className={classes.cardTitle}>
            {t('start.clientA')}
          </Text>
          <ol className={classes.steps}>
            {STEPS_OF_A.map((step) => (
              <Step key={step} step={step} tookMs={demo.done[step]} topic={demo.topic} />
            ))}
          </ol>
          <OwnMessage isReady={demo.phase === 'done'} />
        </section>
        <section className={`${classes.card} ${classes.wire}`} aria-label={t('start.wire')}>
          <Text component="h3" className={classes.cardTitle}>
            {t('start.wire')}
          </Text>
          <Ladder protocolVersion={profile.protocolVersion} />
        </section>
        <section className={`${classes.card} ${classes.receivedCard}`} aria-label={t('start.received')}>
          <Text component="h3" className={classes.cardTitle}>
            {`${t('start.clientA')}: ${t('start.received')}`}
          </Text>
          <Received messages={demo.receivedA} />
          <Text component="h3" className={classes.cardTitle} mt="xs">
            {t('start.clientB')}
          </Text>
          <ol className={classes.steps}>
            <Step step="newcomer" tookMs={demo.done.newcomer} topic={demo.topic} />
          </ol>
          <Received messages={demo.receivedB} />
          <Button
            variant="default"
            w="fit-content"
            leftSection={<IconRefresh size={14} stroke={1.5} />}
            disabled={demo.phase !== 'done'}
            onClick={() => void comeAgain(profile)}
          >
            {t('start.comeAgain')}
          </Button>
        </section>
        <CodeCard profile={profile} />
      </div>
    </>
  );
}

/** Which step failed, and what the broker says: mostly that a rule forbids the topic. */
function Failure({ demo: { failed, trouble, topic } }: { readonly demo: DemoState }) {
  return (
    <>
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        {failed !== undefined && `${t(`start.steps.${failed}.title`)}: `}
        {t(trouble === undefined ? 'start.lost' : 'start.refused', { topic })}
      </Text>
      {trouble !== undefined && <TroubleAlert trouble={trouble} />}
    </>
  );
}

interface StepProps {
  readonly step: DemoStep;
  readonly tookMs: number | undefined;
  readonly topic: string;
}

function Step({ step, tookMs, topic }: StepProps) {
  const isDone = tookMs !== undefined;
  const Icon = isDone ? IconCircleCheckFilled : IconCircle;
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <Icon size={16} stroke={1.5} aria-hidden />
      <div>
        <div className={classes.stepTitle}>{t(`start.steps.${step}.title`)}</div>
        <div className={classes.stepText}>{t(`start.steps.${step}.text`, { filter: `${topic}/#` })}</div>
      </div>
      {isDone && (
        <span className={classes.took}>{t('start.took', { duration: formatDuration(tookMs) })}</span>
      )}
    </li>
  );
}

function Received({ messages }: { readonly messages: readonly LoggedMessage[] }) {
  if (messages.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        {t('start.nothing')}
      </Text>
    );
  }
  return (
    <ul className={classes.received} aria-live="polite">
      {messages.map((message) => (
        <li key={message.sequence}>
          <div>{message.text(200)}</div>
          <div className={classes.receivedAbout}>
            <span>{message.topic.split('/').at(-1)}</span>
            <Badge variant="default" size="xs">{`QoS ${message.qos}`}</Badge>
            {message.retain && (
              <Badge color="grape.9" size="xs">
                {t('start.retained')}
              </Badge>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
