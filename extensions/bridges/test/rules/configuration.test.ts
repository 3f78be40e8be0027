import { describe, expect, test } from 'vitest';
import { readRules } from '../../src/index.ts';
import { PLACE } from '../support/ruled.ts';

const HOOK = { webhook: { url: 'https://example.com/hook' } };
const RULE = { name: 'r', filter: 'a/#', to: HOOK };
const read = (...rules: readonly object[]) =>
  readRules({ rules: rules.map((rule) => ({ ...RULE, ...rule })) }, PLACE);

describe('a file of rules', () => {
  test('is read with its defaults', () => {
    expect(read({})).toMatchObject([
      {
        ...{ name: 'r', tenant: 'default', hopsMax: 4, filter: 'a/#', when: undefined, parallel: 8 },
        retry: { attempts: 8, firstDelayMs: 500, delayMsMax: 60_000 },
        to: { kind: 'webhook', secret: undefined, headers: {}, timeoutSeconds: 10, batch: 20 },
      },
    ]);
  });

  test('takes secrets from the environment', () => {
    const webhook = { ...HOOK.webhook, secret: { env: 'SECRET' }, headers: { 'X-Key': { env: 'SECRET' } } };
    const place = { ...PLACE, environment: { SECRET: 's' } };
    expect(readRules({ rules: [{ ...RULE, to: { webhook } }] }, place)).toMatchObject([
      { to: { secret: 's', headers: { 'X-Key': 's' } } },
    ]);
  });

  test.each([
    ['an AWS target', { sqs: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/jobs' } }],
    ['a bus', { eventBridge: {} }],
    ['a function', { lambda: { function: 'f', region: 'eu-west-1' } }],
    ['a topic of Kafka', { kafka: { brokers: ['k:9092'], topic: 't', key: '{1}' } }],
    ['a topic', { publish: { topic: 'b/{1}/{2}', qos: 0, retain: true, delaySeconds: 5 } }],
  ])('may send to %s', (_what, to) => {
    expect(read({ to })).toHaveLength(1);
  });

  const webhook = (others: object) => ({ to: { webhook: { ...HOOK.webhook, ...others } } });
  test.each([
    ['a filter that is none', { filter: 'a/#/b' }, 'rules[0].filter is no topic filter'],
    ['a shared filter', { filter: '$share/g/a' }, 'without $share'],
    ['a misspelt field', { fliter: 'a' }, 'has no field "fliter"'],
    ['a condition that is none', { when: 'payload.t >' }, 'rules[0].when is no CEL expression'],
    ['no target', { to: {} }, 'a rule has one of webhook, kafka, publish'],
    ['two targets', { to: { ...HOOK, publish: { topic: 'b' } } }, 'a rule has one of webhook'],
    ['no URL', webhook({ url: 'hook' }), 'url has to be a URL'],
    ['another scheme', webhook({ url: 'ftp://example.com' }), 'has to begin with https: or http:'],
    ['a password in the URL', webhook({ url: 'https://a:b@example.com' }), 'has no user and password'],
    ['an address inside', webhook({ url: 'http://169.254.169.254/latest' }), 'which is inside'],
    [
      'a range that is none',
      webhook({ allowAddresses: ['localhost'] }),
      'allowAddresses has to be addresses',
    ],
    ['a header of the rule', webhook({ headers: { 'Webhook-Id': 'x' } }), 'is no header that may be set'],
    ['a header with a line break', webhook({ headers: { 'X-A': 'a\r\nb' } }), 'printable ASCII'],
    ['a secret that is not set', webhook({ secret: { env: 'NOT_SET' } }), 'NOT_SET is not set'],
    ['too large a batch', webhook({ batch: 101 }), 'batch has to be a whole number from 1 to 100'],
    ['a target with a wildcard', { to: { publish: { topic: 'b/+' } } }, 'is no topic of MQTT'],
    ['a target of the server', { to: { publish: { topic: '$SYS/a' } } }, 'begins with $'],
    [
      'a level that is not there',
      { filter: 'a/+', to: { publish: { topic: 'b/{3}' } } },
      'no placeholder {3}',
    ],
    ['a queue that is none', { to: { sqs: { queueUrl: 'jobs' } } }, 'queueUrl has to be as'],
    ['a source of AWS', { to: { eventBridge: { source: 'aws.mqtt' } } }, 'must not begin with "aws."'],
    ['no function', { to: { lambda: {} } }, 'function is missing'],
    ['no Kafka', { to: { kafka: { topic: 't' } } }, 'brokers is missing'],
  ])('with %s is refused', (_what, rule, message) => {
    expect(() => read(rule)).toThrow(message);
  });

  test('has each name only once', () => {
    expect(() => read({}, {})).toThrow('rules[1].name: there are two "r"');
  });
});
