import { encodeRuleJob, type SqsRecord } from '@apus/aws/lambda';
import type { Message } from '@apus/broker';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RuleLetter } from '../../src/lambda/dead-letter-queue.ts';
import { readDeployedRules } from '../../src/lambda/deployed-rules.ts';
import {
  createRulesHandler,
  type OpenRule,
  type RuleCount,
  ruleKey,
} from '../../src/lambda/rules-handler.ts';
import type { BatchLimits, Failure } from '../../src/rules/target.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const RULE = { name: 'hot', filter: 'sensors/#', to: { webhook: { url: 'https://example.com/' } } };
const WEBHOOK: BatchLimits = { messagesMax: 3, bytesMax: 100_000, isPartial: false };

let sent: string[][];
let answer: (texts: readonly string[]) => Omit<Failure, 'messages'> | undefined;
let letters: RuleLetter[];
let unreadable: string[];
let givenBack: [string[], number][];
let counts: Partial<Record<RuleCount, number>>;
let areLettersTaken: boolean;

beforeEach(() => {
  sent = [];
  answer = () => undefined;
  letters = [];
  unreadable = [];
  givenBack = [];
  counts = {};
  areLettersTaken = true;
});

const textOf = ({ payload }: Message) => Buffer.from(payload).toString();

function openRule(fields: object = {}, batch = WEBHOOK): ReadonlyMap<string, OpenRule> {
  const [configuration] = readDeployedRules([{ ...RULE, ...fields }], 'rules', () => 'secret');
  if (configuration === undefined) throw new Error('expected a rule');
  const target = {
    type: 'fake',
    remote: 'nowhere',
    batch,
    send: async (messages: readonly Message[]): Promise<Failure | undefined> => {
      const texts = messages.map(textOf);
      sent.push(texts);
      const failure = answer(texts);
      return failure && { messages, ...failure };
    },
    stop: async () => {},
  };
  return new Map([[ruleKey(configuration), { configuration, target }]]);
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The ids of the records that come again. */
async function run(
  records: readonly SqsRecord[],
  rules: ReadonlyMap<string, OpenRule> = openRule(),
  remainingMs = () => 180_000,
): Promise<readonly string[]> {
  const handler = createRulesHandler({
    rules: async () => rules,
    deadLetters: {
      add: async (some) => {
        if (!areLettersTaken) throw new Error('away');
        letters.push(...some);
      },
      addUnreadable: async (body) => void unreadable.push(body),
    },
    visibility: {
      giveBack: async (some, seconds) =>
        void givenBack.push([some.map(({ messageId }) => messageId), seconds]),
    },
    clock: { now: () => NOW_MS },
    log: silent,
    count: (what, messages) => {
      counts[what] = (counts[what] ?? 0) + messages;
    },
  });
  const event = { Records: records };
  const { batchItemFailures } = await handler(event, { getRemainingTimeInMillis: remainingMs });
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

function record(
  text: string,
  { topic = 'sensors/1', receives = 1, name = 'hot', message = {} as Partial<Message> } = {},
): SqsRecord {
  const whole: Message = {
    ...{ id: `id-${text}`, topic, payload: Buffer.from(text), qos: 1, retain: false, properties: {} },
    ...{ expiresAtMs: undefined, publisherKey: undefined },
    ...message,
  };
  return {
    messageId: text,
    receiptHandle: text,
    body: encodeRuleJob({ rule: { tenant: 'default', name }, message: whole }),
    attributes: { MessageGroupId: topic, ApproximateReceiveCount: String(receives) },
  };
}

describe('a message of a newer version', () => {
  it('stays in the queue, with those behind it in its topic; those before it and of other topics are sent', async () => {
    const newer = { ...record('2'), body: record('2').body.replace('"v":1', '"v":2') };
    const records = [record('1'), newer, record('3'), record('x', { topic: 'sensors/2' })];
    expect(await run(records)).toEqual(['2', '3']);
    expect(sent.flat().sort()).toEqual(['1', 'x']);
    expect([unreadable, letters, givenBack]).toEqual([[], [], []]);
  });

  it('stays behind one that its target does not take now', async () => {
    answer = () => ({ error: 'answered 503', isPermanent: false });
    expect(await run([record('1'), { ...record('2'), body: '{"v":99}' }])).toEqual(['1', '2']);
  });
});

describe('the messages of a topic', () => {
  it('are sent in their order, in batches of the target', async () => {
    expect(await run(['1', '2', '3', '4'].map((text) => record(text)))).toEqual([]);
    expect(sent).toEqual([['1', '2', '3'], ['4']]);
    expect(counts).toEqual({ sent: 4 });
  });

  it('go alone to a target that may take a later one of a batch and refuse an earlier one', async () => {
    await run([record('1'), record('2')], openRule({}, { ...WEBHOOK, isPartial: true }));
    expect(sent).toEqual([['1'], ['2']]);
  });

  it('come again from the first failed one on, each time later; another topic goes on', async () => {
    answer = (texts) => (texts.includes('2') ? { error: 'busy', isPermanent: false } : undefined);
    const one = { ...WEBHOOK, messagesMax: 1 };
    const records = [
      record('1'),
      record('2', { receives: 3 }),
      record('3'),
      record('x', { topic: 'sensors/2' }),
    ];
    expect(await run(records, openRule({}, one))).toEqual(['2', '3']);
    expect(sent.flat().sort()).toEqual(['1', '2', 'x']);
    // Half a second, doubled twice.
    expect(givenBack).toEqual([[['2', '3'], 2]]);
    expect(counts).toEqual({ sent: 2, failed_attempts: 1 });
  });

  it('wait as long as the target asks, up to the limit of the rule', async () => {
    answer = () => ({ error: 'busy', isPermanent: false, retryAfterMs: 30_000 });
    await run([record('1')]);
    answer = () => ({ error: 'busy', isPermanent: false, retryAfterMs: 3_600_000 });
    await run([record('1')]);
    expect(givenBack.map(([, seconds]) => seconds)).toEqual([30, 60]);
  });

  it('come again if no time is left for a call', async () => {
    expect(await run([record('1')], openRule(), () => 60_000)).toEqual(['1']);
    expect(sent).toEqual([]);
  });
});

describe('a message becomes a dead letter', () => {
  it('when its attempts are used up, and the others of its topic go on', async () => {
    answer = (texts) => (texts.includes('1') ? { error: 'busy', isPermanent: false } : undefined);
    const one = { ...WEBHOOK, messagesMax: 1 };
    expect(await run([record('1', { receives: 4 }), record('2')], openRule({ attempts: 4 }, one))).toEqual(
      [],
    );
    expect(letters).toMatchObject([
      { rule: { name: 'hot' }, error: 'busy', attempts: 4, failedAtMs: NOW_MS, message: { id: 'id-1' } },
    ]);
    expect(sent).toEqual([['1'], ['2']]);
    expect(counts).toEqual({ failed_attempts: 1, dead: 1, sent: 1 });
  });

  it('at once if the target refuses it for good: alone, without its batch', async () => {
    answer = (texts) => (texts.includes('2') ? { error: 'answered 400', isPermanent: true } : undefined);
    expect(await run(['1', '2', '3'].map((text) => record(text)))).toEqual([]);
    expect(sent).toEqual([['1', '2', '3'], ['1'], ['2'], ['3']]);
    expect(letters.map(({ message }) => textOf(message))).toEqual(['2']);
  });

  it('if its rule does not exist any more', async () => {
    expect(await run([record('1', { name: 'gone' })])).toEqual([]);
    expect(letters).toMatchObject([{ rule: { name: 'gone' }, error: 'there is no such rule now' }]);
  });

  it('if it is unreadable', async () => {
    expect(await run([{ ...record('1'), body: '{"v":1}' }])).toEqual([]);
    expect(unreadable).toEqual(['{"v":1}']);
  });

  it('or comes again if the queue of dead letters does not take it', async () => {
    areLettersTaken = false;
    answer = () => ({ error: 'answered 400', isPermanent: true });
    expect(await run([record('1')])).toEqual(['1']);
    expect(await run([record('1', { name: 'gone' })])).toEqual(['1']);
  });

  it('while those of other topics are sent', async () => {
    areLettersTaken = false;
    const others = [record('x', { topic: 'sensors/2' }), record('y', { topic: 'sensors/3' })];
    expect(await run([record('1', { name: 'gone' }), ...others])).toEqual(['1']);
    expect(sent.flat().sort()).toEqual(['x', 'y']);
  });
});

describe('a message is not sent', () => {
  it.each<[string, object, Partial<Message>, string, object]>([
    ['when its condition is false', { when: 'payload.t > 80.0' }, {}, '{"t":20}', {}],
    ['when its condition cannot be said', { when: 'payload.t > 80.0' }, {}, 'x', { condition_failed: 1 }],
    [
      'when it has crossed as many rules and bridges as it may',
      {},
      { properties: { userProperties: [['apus-bridge-hops', '4']] } },
      'x',
      {},
    ],
    ['when it has expired', {}, { expiresAtMs: NOW_MS }, 'x', {}],
  ])('%s', async (_, fields, message, text, expected) => {
    expect(await run([record(text, { message })], openRule(fields))).toEqual([]);
    expect([sent, letters, counts]).toEqual([[], [], expected]);
  });

  it('unless its condition is true; then it has one more hop', async () => {
    await run([record('{"t":90}')], openRule({ when: 'payload.t > 80.0' }));
    expect(sent).toEqual([['{"t":90}']]);
  });
});

describe('the rules of a deployment', () => {
  const secret = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:hook-a1B2c3';
  it.each<[string, object, string]>([
    [
      'Kafka, and a certificate in a file',
      { to: { kafka: { brokers: ['a:1'], topic: 'x', tls: { ca: 'ca.pem' } } } },
      'is a file, which a deployment has not',
    ],
    [
      'Kafka, and subnets without a security group',
      { to: { kafka: { brokers: ['a:1'], topic: 'x', aws: { subnets: ['subnet-1'] } } } },
      'rules[0].to.kafka.aws.securityGroups is missing',
    ],
    [
      'a variable of the owner',
      { to: { webhook: { url: 'https://a.example/', secret: { env: 'S' } } } },
      'secret has to be a text or, in a deployment, {"secretArn": "ARN"}',
    ],
    [
      'a file',
      { to: { webhook: { url: 'https://a.example/', ca: 'ca.pem' } } },
      'ca is a file, which a deployment has not',
    ],
    [
      'an address inside',
      { to: { webhook: { url: 'http://169.254.169.254/latest/meta-data' } } },
      'leads to 169.254.169.254, which is inside',
    ],
    ['a condition that is none', { when: 'payload >' }, 'is no CEL expression'],
  ])('have no %s', (_, fields, sentence) => {
    expect(() => readDeployedRules([{ ...RULE, ...fields }], 'rules', () => 's')).toThrow(sentence);
  });

  it('take secrets by their ARN', () => {
    const to = { webhook: { url: 'https://a.example/', secret: { secretArn: secret } } };
    expect(readDeployedRules([{ ...RULE, to }], 'rules', () => 'text')).toMatchObject([
      { to: { secret: 'text' } },
    ]);
    expect(() => readDeployedRules([{ ...RULE, to }], 'rules', () => undefined)).toThrow('cannot be read');
  });
});
