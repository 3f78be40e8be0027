import type { OperationName } from './operation.ts';
import type { UsageName } from './usage.ts';

/** A way to lower a line of the bill, by its usage and its main cause. */
export function leverFor(usage: UsageName | undefined, cause: OperationName | undefined): string {
  const byCause = cause === undefined ? undefined : CAUSE_LEVERS[cause];
  if (usage === undefined) return 'Use less of it.';
  return (FRAME_USAGES.has(usage) ? byCause : undefined) ?? LEVERS[usage];
}

/** Lines that are counted by the frame: the advice depends on the sender of the frames. */
const FRAME_USAGES: ReadonlySet<UsageName> = new Set([
  'gatewayMessagesIn',
  'gatewayMessagesOut',
  'lambdaRequests',
  'lambdaGigabyteSeconds',
]);

const CAUSE_LEVERS: { readonly [K in OperationName]?: string } = {
  connect:
    'Let clients stay connected, or connect less often: a connection begun costs as much as days of being idle.',
  subscribe:
    'Keep the session over a reconnect (Session Expiry Interval): its subscriptions are there already.',
  heartbeat:
    'Idle clients prove every nine minutes that they are alive. Only fewer hours online would lower it.',
  resume:
    'Find out why connections are lost: a page that is put to sleep, a proxy that ends silent connections, a network that changes.',
  loss: 'Use the transport of @apus/client, which resumes a lost session within a minute, without CONNECT and SUBSCRIBE.',
  publish:
    'Publish several messages together: what is written while a reply is awaited shares a frame, and 24 KB of packets cost as much as one.',
  deliver:
    'Send fewer, larger messages: each delivery is a frame for each recipient, and up to 24 KB cost as much as one byte. Narrower topics reach only those who need them.',
  recover:
    'Ask for less of the past: a smaller rewind, or stream-position, which brings what was missed alone.',
  snapshot: 'Read narrower filters: each newcomer is sent the last value of every key of its topics.',
  kafka:
    'Let Lambda gather records for longer (batchWindowSeconds), and publish to narrower topics: each recipient is a frame.',
  'iot-core':
    'Name fewer topics in the filters of the bridge, and publish to narrower ones here: each recipient is a frame.',
  rules:
    'Narrow the filters of rules: each message of a filter goes through the queue, also where its condition is false.',
  keep: 'Let sessions end with their connection where a lost message does no harm: nothing is kept, and no PUBACK is sent.',
};

const LEVERS: { readonly [K in UsageName]: string } = {
  gatewayMessagesIn:
    'Let packets share frames: what a client writes while a reply is awaited leaves as one billed message.',
  gatewayMessagesOut:
    'Send fewer, larger messages: up to 24 KB to a client cost as much as one byte, and each recipient is a frame.',
  connectionMinutes:
    'Connect only while somebody looks: a client that disconnects in the background pays nothing.',
  lambdaRequests: 'Each frame from a client is an invocation: let packets share frames.',
  lambdaGigabyteSeconds: 'Lower the memory of the functions as far as the duration does not grow.',
  dynamodbReadUnits:
    'Fewer filter shapes, packets that share frames, and sessions that end with their connection read less.',
  dynamodbWriteUnits:
    'Use persistent sessions and QoS 1 only where a message must survive its client being away; connect less often.',
  dynamodbStorageGigabyteMonths: 'Let sessions and retained messages expire.',
  sqsStandardRequests: 'Fewer wills and timers.',
  sqsFifoRequests: 'Publish several messages together: those of one frame share a job.',
  sqsStandardPolls: 'It is paid for at rest and does not grow: more use makes its share small.',
  sqsFifoPolls: 'It is paid for at rest and does not grow: more use makes its share small.',
  iotRulesTriggered: 'Name fewer topics in the filters of the bridge.',
  iotRuleActions: 'Let no two rules bring the same message: each has an action of its own.',
  schedulerInvocations: 'Fewer wills and timers beyond fifteen minutes.',
  logBytes: 'Log less for a frame: raise the log level, and leave access logs off.',
  dataTransferOutBytes:
    'Make payloads smaller: a compact or compressed format, only the fields that changed.',
  secretMonths: 'SSM parameters (SecureString) cost nothing.',
  kmsKeyMonths: 'Keys that AWS owns cost nothing.',
  dashboardMonths: 'Three dashboards are free in each account.',
  alarmMonths: 'Ten alarms are free in each account.',
  metricMonths: 'Ten metrics are free in each account.',
  metricsRead: 'Ask for the figures less often: every five minutes cost a fifth.',
};
