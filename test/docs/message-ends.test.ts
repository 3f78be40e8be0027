import { BRIDGE_METRICS, METRICS } from '@apus/aws/lambda';
import { COUNTED } from '@apus/aws/testing';
import { describe, expect, it } from 'vitest';
import { EVERY_ALARM, synthBroker } from '../../infra/test/support/synth.ts';
import { FILES, textOf } from './repository.ts';

/** The events of lines whose names are put together, or chosen: by the text in the code. */
const CHOSEN: Readonly<Record<string, readonly string[]>> = {
  '`${name}-queue-full`': ['fan-out-queue-full', 'rules-queue-full'],
  '`${name}-queue-not-asked`': ['fan-out-queue-not-asked', 'rules-queue-not-asked'],
  '`bridge-${state}`': ['bridge-connecting', 'bridge-connected', 'bridge-disconnected', 'bridge-stopped'],
  '`rule-${state}`': ['rule-connecting', 'rule-connected', 'rule-disconnected', 'rule-stopped'],
  '`rule-kafka-${state}`': [
    'rule-kafka-connecting',
    'rule-kafka-connected',
    'rule-kafka-disconnected',
    'rule-kafka-stopped',
  ],
  '`stream-${appended}`': ['stream-full', 'stream-contended'],
};

/** Where a variable has the event: a log over another one, and a choice of some. */
const VARIABLE: Readonly<Record<string, readonly string[]>> = {
  'extensions/bridges/src/rules/rule.ts': ['rule-dead-letter', 'rule-dead-letters-full'],
  'packages/broker/src/sparing-log.ts': [],
  'packages/aws/src/lambda/metered-log.ts': [],
  'packages/cloudflare/src/links/object-link.ts': ['text-frame', 'inbound-overload'],
  'packages/node/src/listener.ts': ['handshake-refused', 'token-refused'],
  'packages/node/src/node-link.ts': [
    'inbound-overload',
    'outbound-overload',
    'text-frame',
    'web-socket-error',
  ],
};

/** A line that the code writes. */
interface Line {
  readonly event: string;
  /** Undefined: the level is chosen. */
  readonly level: string | undefined;
}

const CALL = /\b#?log\??(?:\.(debug|info|warn|error)|\[[^\]\n]+\])\(\s*([^,)\s]+)/g;

function linesOf(path: string): readonly Line[] {
  return [...textOf(path).matchAll(CALL)].flatMap(([, level, argument = '']) => {
    const [, event] = /^'([\w-]+)'$/.exec(argument) ?? [];
    if (event !== undefined) return [{ event, level }];
    const events = argument.startsWith('`') ? CHOSEN[argument] : VARIABLE[path];
    if (events === undefined) throw new Error(`${path} writes a line whose event is not known: ${argument}`);
    return events.map((each) => ({ event: each, level: argument.startsWith('`') ? level : undefined }));
  });
}

const LINES = FILES.filter((path) => /^(?:packages|extensions)\/[\w-]+\/src\/.*\.ts$/.test(path)).flatMap(
  linesOf,
);

const PAGE = textOf('docs/observability.md');
const [, SECTION = ''] = /^## Where a message can end\n(.*?)^## /ms.exec(PAGE) ?? [];
const OTHERS = textOf('docs/generated/log-events.md');

/** The rows: a line, its level, its counts, and its alarm. */
const ROWS = SECTION.split('\n').flatMap((row) => {
  const [, first = '', , , counts = '', alarm = ''] = row.split('|').map((cell) => cell.trim());
  const [, event = '', level = ''] = /^`([\w-]+)` (\w+)$/.exec(first) ?? [];
  return event === '' ? [] : [{ event, level, counts: namesIn(counts), alarm }];
});

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
}

/** Counts that are made beside the line. */
const COUNTED_BESIDE: Readonly<Record<string, readonly string[]>> = {
  'gateway-call-failed': [],
  'identity-limited': [METRICS.identitiesLimited],
  'bridge-record-skipped': [BRIDGE_METRICS.kafkaRecordsSkipped],
  'bridge-message-skipped': [BRIDGE_METRICS.iotCoreMessagesSkipped],
  'rule-dead-letter': [BRIDGE_METRICS.ruleMessagesDead],
};

/** Fields with which the events count differently. */
const FIELDS = [{}, { outcome: 'gone' }, { outcome: 'throttled' }];

function countsOf(event: string): readonly string[] {
  const names = FIELDS.flatMap((fields) => Object.keys(COUNTED[event]?.(fields) ?? {}));
  return [...new Set([...names, ...(COUNTED_BESIDE[event] ?? [])])].sort();
}

/** `PostsFailed` is *Posts failed*. */
const ALARMS = Object.values(synthBroker(EVERY_ALARM).template.findResources('AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => /#([\w-]+)$/.exec(Properties.AlarmDescription)?.[1],
);

describe('the table of places where a message can end', () => {
  it('has a row, or a name among the others, for each line that the code can write, and no other one', () => {
    const named = [...ROWS.map(({ event }) => event), ...namesIn(OTHERS)];
    expect([...named].sort()).toEqual([...new Set(LINES.map(({ event }) => event))].sort());
  });

  it.each(ROWS)(
    '$event: has the level, the counts and the alarm of the code',
    ({ event, level, counts, alarm }) => {
      const levels = LINES.filter((line) => line.event === event).map((line) => line.level ?? level);
      expect([...new Set(levels)]).toEqual([level]);
      expect([...counts].sort()).toEqual(countsOf(event));
      if (alarm !== '') expect(ALARMS).toContain(alarm.toLowerCase().replaceAll(' ', '-'));
    },
  );

  it('has every event that counts a dropped message, or a failed post', () => {
    const losses = Object.keys(COUNTED).filter((event) =>
      countsOf(event).some((name) => name === METRICS.messagesDropped || name === METRICS.postsFailed),
    );
    expect(ROWS.map(({ event }) => event)).toEqual(expect.arrayContaining(losses));
  });
});
