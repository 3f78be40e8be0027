import { Paper, Text, Title } from '@mantine/core';
import { endOfToken } from '../../engine/token-end.ts';
import type { SessionFacts, Traffic } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { secretsOf } from '../../state/secrets.ts';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { formatBytes, formatCount, formatDateTime } from '../../ui/format.ts';

const NEVER_SECONDS = 0xffff_ffff;

/** The fields of CONNACK, and the traffic since. */
export function ConnectionFacts({ id }: { readonly id: string }) {
  const { session, traffic } = useStatus(id);
  return (
    <Paper withBorder p="md" bg="var(--apus-surface)">
      <Title order={3} size="h6" mb="xs">
        The server’s answer
      </Title>
      {session === undefined ? (
        <Text size="xs" c="dimmed">
          Not connected: nothing is known yet.
        </Text>
      ) : (
        <Facts facts={[...factsOf(session, endOfToken(secretsOf(id).token)), ...session.userProperties]} />
      )}
      <Title order={3} size="h6" mt="md" mb="xs">
        Traffic
      </Title>
      <TrafficList traffic={traffic} />
    </Paper>
  );
}

function factsOf(session: SessionFacts, endsAtMs: number | undefined): readonly Fact[] {
  const seconds = (value: number): string => `${formatCount(value)} s`;
  const available = (is: boolean): string => (is ? 'available' : 'not available');
  const limit = (value: number | undefined, format: (value: number) => string): string =>
    value === undefined ? 'no limit told' : format(value);
  const expiry = session.sessionExpiryIntervalSeconds ?? 0;
  const expiryText =
    expiry === NEVER_SECONDS ? 'never' : expiry === 0 ? 'with the connection' : seconds(expiry);
  return [
    ['Connected since', formatDateTime(session.connectedAtMs)],
    ['Token ends', endsAtMs === undefined ? undefined : formatDateTime(endsAtMs)],
    ['Client identifier', session.clientId],
    ['Session', session.sessionPresent ? 'resumed' : 'new'],
    ['Session expiry', expiryText],
    ['Keep alive', seconds(session.keepAliveSeconds)],
    ['Maximum QoS', String(session.maximumQos)],
    ['Receive maximum', limit(session.receiveMaximum, formatCount)],
    ['Maximum packet size', limit(session.maximumPacketSizeBytes, formatBytes)],
    ['Topic alias maximum', formatCount(session.topicAliasMaximum ?? 0)],
    ['Retained messages', available(session.retainAvailable)],
    ['Wildcards', available(session.wildcardAvailable)],
    ['Subscription identifiers', available(session.subscriptionIdentifiersAvailable)],
    ['Shared subscriptions', available(session.sharedAvailable)],
    ['Response information', session.responseInformation],
    ['Server reference', session.serverReference],
    ['Reason string', session.reasonString],
  ];
}

function TrafficList({ traffic }: { readonly traffic: Traffic }) {
  const { messagesIn, bytesIn, messagesOut, bytesOut, dropped, skipped, gateway } = traffic;
  const both = (messages: number, bytes: number): string =>
    `${formatCount(messages)} messages, ${formatBytes(bytes)}`;
  const some = (count: number): string | undefined => (count === 0 ? undefined : formatCount(count));
  const frames = gateway && `${formatCount(gateway.framesSent)}, ${formatCount(gateway.framesReceived)}`;
  return (
    <Facts
      facts={[
        ['Received', both(messagesIn, bytesIn)],
        ['Sent', both(messagesOut, bytesOut)],
        ['Dropped by the broker', some(dropped)],
        ['Not shown', some(skipped)],
        ['Frames sent, received', frames],
        ['Billed messages', gateway && formatCount(gateway.messagesBilled)],
      ]}
    />
  );
}
