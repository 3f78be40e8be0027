import { describe, expect, it } from 'vitest';
import type { ApusBrokerProps } from '../lib/props.ts';
import { synthBroker } from './support/synth.ts';

function sentenceOf(props: unknown): string {
  try {
    synthBroker(props as ApusBrokerProps);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'nothing was thrown';
}

describe('an invalid prop is reported at synthesis, with the allowed values', () => {
  it.each<[string, unknown, string]>([
    [
      'a throttle of nothing',
      { throttle: { framesPerSecond: 0 } },
      'Test/Broker: throttle.framesPerSecond is a whole number from 1 to 1,000,000, not 0.',
    ],
    [
      'half a frame',
      { throttle: { burstFrames: 1.5 } },
      'Test/Broker: throttle.burstFrames is a whole number from 1 to 1,000,000, not 1.5.',
    ],
    [
      'a budget beyond the quota',
      { fanOut: { maxPostsPerSecond: 300_000 } },
      'Test/Broker: fanOut.maxPostsPerSecond is a whole number from 20 to 256,000, not 300000. They draw on the requests that an account may make, 10,000 a second unless that was raised.',
    ],
    [
      'a breaker that is always tripped',
      { breaker: { messagesPerMinuteMax: 10 } },
      'Test/Broker: breaker.messagesPerMinuteMax is a whole number from 1,000 up, not 10. To have no breaker, say `breaker: false`.',
    ],
    [
      'a breaker that is to close by itself in two days',
      { breaker: { resetMinutes: 2_880 } },
      'Test/Broker: breaker.resetMinutes is a whole number from 0 to 1,440, not 2880.',
    ],
    [
      'a maximum of the table below what it is warmed for',
      { table: { warmWriteUnitsPerSecond: 10_000, maxWriteRequestUnits: 5_000 } },
      'Test/Broker: table.maxReadRequestUnits and table.maxWriteRequestUnits are not below what the table is warmed for: 10000 writes, and 3 reads for each.',
    ],
    [
      'half a unit',
      { table: { maxReadRequestUnits: 0.5 } },
      'Test/Broker: table.maxReadRequestUnits is a whole number from 0 up, not 0.5. 0 lifts it.',
    ],
    [
      'environments for a function that is not there',
      { publishReservedConcurrency: 5 },
      'Test/Broker: publishReservedConcurrency means nothing without httpPublish.',
    ],
    [
      'too little memory',
      { memorySizeMegabytes: 128 },
      'Test/Broker: memorySizeMegabytes is a whole number from 256 to 10,240, not 128.',
    ],
    [
      'keys that anybody on the way could replace',
      { authentication: { jwksUrl: 'http://id.example.com/keys', issuer: 'x', audience: 'y' } },
      'Test/Broker: authentication.jwksUrl is an https:// URL, not "http://id.example.com/keys".',
    ],
    [
      'no issuer',
      { authentication: { jwksUrl: 'https://id.example.com/keys', issuer: '', audience: 'y' } },
      'Test/Broker: authentication.issuer is empty: tokens of anybody who shares the keys would be accepted.',
    ],
    [
      'no audience',
      { authentication: { jwksUrl: 'https://id.example.com/keys', issuer: 'x', audience: '' } },
      'Test/Broker: authentication.audience is empty: tokens for other customers of the provider would be accepted.',
    ],
    [
      'an identity that the broker could not read',
      { identity: { authenticators: [{ jwt: { secretARN: 'generated' } }] } },
      'Test/Broker: identity: authenticators[0].jwt has no field "secretARN".',
    ],
    [
      'a secret that everybody would see',
      { identity: { authenticators: [{ jwt: { secret: '0123456789abcdef0123456789abcdef' } }] } },
      'Test/Broker: identity has a "secret" in it, which everybody would see who may look at the function',
    ],
    [
      'a file, of which a function has none',
      { identity: { authenticators: [{ users: { file: 'users.json' } }] } },
      'Test/Broker: users.json: there are no files in the cloud.',
    ],
    [
      'a cookie that the pages of every site could use',
      { identity: { authenticators: [{ jwt: { secretArn: 'generated' } }], cookie: 'session' } },
      'cross-site WebSocket hijacking',
    ],
    [
      'two ways to say who may connect',
      {
        authentication: 'generated-secret',
        identity: { authenticators: [{ jwt: { secretArn: 'generated' } }] },
      },
      'Test/Broker: identity says all of who may connect',
    ],
    [
      'tenants of backends that show keys',
      { httpPublish: 'keys', httpPublishTenants: ['shop'] },
      "Test/Broker: httpPublishTenants is a list of tenants for httpPublish: 'iam'.",
    ],
    [
      'rules for tokens that are no filters',
      { tokenDefaultRules: { publish: ['chat/%u/#'], subscribe: ['chat/#/all'] } },
      'Test/Broker: tokenDefaultRules.subscribe: A topic filter has # only as its whole last level: "chat/#/all".',
    ],
    [
      'a rule for tokens with the name of a share group',
      { tokenDefaultRules: { subscribe: ['$share/group/chat'] } },
      'Test/Broker: tokenDefaultRules.subscribe: A rule has the filter alone, without $share/',
    ],
    [
      'rules for tokens with anonymous clients',
      { authentication: 'anonymous', tokenDefaultRules: { publish: ['#'] } },
      'Test/Broker: tokenDefaultRules is for tokens, and with authentication: anonymous no client shows one.',
    ],
    [
      'an origin that no browser sends',
      { allowedOrigins: ['https://app.example.com/'] },
      'Test/Broker: allowedOrigins: a browser sends this origin as https://app.example.com, not "https://app.example.com/".',
    ],
    [
      'connections of all together',
      { quotas: { broker: { connectionsMax: 5 } as object } },
      'Test/Broker: quotas.broker has no connectionsMax: limits bound what a tenant, or all, hold (sessionsMax, retainedMessagesMax, retainedBytesMax).',
    ],
    [
      'a limit that is none',
      { limits: { recieveMaximum: 3 } },
      'Test/Broker: limits.recieveMaximum is no limit of the broker. There are maximumPacketSize,',
    ],
    [
      'a limit with the name of an inherited member',
      { limits: { constructor: 3 } as object },
      'Test/Broker: limits.constructor is no limit of the broker. There are maximumPacketSize,',
    ],
    [
      'a negative limit',
      { limits: { queueLengthMax: -1 } },
      'Test/Broker: limits.queueLengthMax is a whole number from 0 up, not -1.',
    ],
    [
      'a limit with which the broker could not work',
      { limits: { receiveMaximum: 0 } },
      'Test/Broker: limits.receiveMaximum is a whole number from 1 to 65,535, not 0.',
    ],
    [
      'a limit that no field of MQTT can hold',
      { limits: { sessionExpirySecondsMax: 2 ** 32 } },
      'Test/Broker: limits.sessionExpirySecondsMax is a whole number from 0 to 4,294,967,295, not 4294967296.',
    ],
    [
      'a rule for full queues that is none',
      { limits: { queueWhenFull: 'drop-all' } },
      'Test/Broker: limits.queueWhenFull is drop-oldest or drop-newest, not drop-all.',
    ],
    [
      'a URL for a host name',
      { domain: { domainName: 'https://mqtt.example.com' } },
      'Test/Broker: domain.domainName is a host name as mqtt.example.com, not "https://mqtt.example.com".',
    ],
    [
      'a mail address without a host',
      { alarms: { email: 'ops' } },
      'Test/Broker: alarms.email is a mail address, not "ops".',
    ],
    ['an extension that is none', { withoutExtensions: ['close', 'open'] }, '"open"'],
    ['a long wait before a cut', { cutAfterMs: 1_001 }, 'cutAfterMs'],
    ['a long time to resume', { resumeSeconds: 241 }, 'resumeSeconds'],
    [
      "a namespace of AWS's",
      { metricsNamespace: 'AWS/Apus' },
      'Test/Broker: metricsNamespace has up to 255 letters, digits and . - _ / # :, and does not begin with AWS/; it is not "AWS/Apus".',
    ],
  ])('%s', (_, props, sentence) => {
    expect(sentenceOf(props)).toContain(sentence);
  });

  it.each<[string, ApusBrokerProps]>([
    [
      'least',
      {
        throttle: { framesPerSecond: 1 },
        connectTimeoutSeconds: 5,
        quotas: { identity: { deliveriesPerMinuteMax: 0 } },
      },
    ],
    [
      'most',
      { memorySizeMegabytes: 10_240, connectTimeoutSeconds: 600, fanOut: { maxPostsPerSecond: 256_000 } },
    ],
    ['none', { breaker: false, alarms: false, dashboard: false, httpPublish: false }],
  ])('the allowed %s', (_, props) => {
    expect(() => synthBroker(props)).not.toThrow();
  });
});

describe('grantPublish', () => {
  it('says why it cannot be granted', () => {
    const { broker } = synthBroker({ httpPublish: false });
    expect(() => broker.httpPublishUrl).toThrow(
      'Test/Broker: there is no HTTP endpoint, since httpPublish is false.',
    );
  });
});
