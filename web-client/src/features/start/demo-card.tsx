import { validateTopicName } from '@apus/mqtt/topic';
import { Badge, Button, Group, Loader, Text, TextInput } from '@mantine/core';
import { IconCircle, IconCircleCheckFilled, IconRotateClockwise } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { fill, formatDuration } from '../../ui/format.ts';
import { TroubleAlert } from '../connections/trouble-alert.tsx';
import { CodeCard } from './code-card.tsx';
import { chooseTopic, type DemoState, type DemoStep, runDemo, STEPS, stopDemo, useDemo } from './demo.ts';
import { Ladder } from './ladder.tsx';
import classes from './start-view.module.css';
import { startWords } from './strings.ts';

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
      <Group justify="space-between" align="flex-end" gap="xs">
        <Text size="sm" c="dimmed" maw={720}>
          {`An example with two clients of this broker. A subscribes and publishes a few messages below ${demo.topic}/, at each quality of service; B comes later and gets the retained message. It starts when you say so, and removes what it has kept.`}
          {!isConnected && ' Connect first: the button is at the top.'}
        </Text>
        <TextInput
          label="Topic"
          spellCheck={false}
          error={isTopic ? undefined : 'No topic: it is empty, or has + or #'}
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
            ? 'Running …'
            : demo.phase === 'idle'
              ? 'Run the example'
              : 'Run it again'}
        </Button>
      </Group>
      {demo.phase === 'failed' && <Failure demo={demo} />}
      <div className={classes.demo}>
        <section className={`${classes.card} ${classes.a}`} aria-label="Client A">
          <Text component="h3" className={classes.cardTitle}>
            Client A
          </Text>
          <ol className={classes.steps}>
            {STEPS_OF_A.map((step) => (
              <Step key={step} step={step} tookMs={demo.done[step]} topic={demo.topic} />
            ))}
          </ol>
        </section>
        <section
          className={`${classes.card} ${classes.wire}`}
          aria-label="The packets between A and the server"
        >
          <Text component="h3" className={classes.cardTitle}>
            The packets between A and the server
          </Text>
          <Ladder protocolVersion={profile.protocolVersion} />
        </section>
        <section className={`${classes.card} ${classes.receivedCard}`} aria-label="Received">
          <Text component="h3" className={classes.cardTitle}>
            Client A: Received
          </Text>
          <Received messages={demo.receivedA} />
          <Text component="h3" className={classes.cardTitle} mt="xs">
            Client B, which comes later
          </Text>
          <ol className={classes.steps}>
            <Step step="newcomer" tookMs={demo.done.newcomer} topic={demo.topic} />
          </ol>
          <Received messages={demo.receivedB} />
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
        {failed !== undefined && `${startWords.steps[failed].title}: `}
        {trouble === undefined
          ? `The message did not come back. A rule of the broker may forbid to publish below ${topic}/: choose another topic.`
          : `The broker refused it. Choose another topic than ${topic}, or ask for the right to use it.`}
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
        <div className={classes.stepTitle}>{startWords.steps[step].title}</div>
        <div className={classes.stepText}>{fill(startWords.steps[step].text, { filter: `${topic}/#` })}</div>
      </div>
      {isDone && <span className={classes.took}>{`${formatDuration(tookMs)}`}</span>}
    </li>
  );
}

function Received({ messages }: { readonly messages: readonly LoggedMessage[] }) {
  if (messages.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        Nothing yet
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
                retained
              </Badge>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
