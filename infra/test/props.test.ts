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

describe('a prop that cannot be is said at synthesis, with what it may be', () => {
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
      { fanOut: { maxPostsPerSecond: 200_000 } },
      'Test/Broker: fanOut.maxPostsPerSecond is a whole number from 20 to 100,000, not 200000. They draw on the requests that an account may make, 10,000 a second unless that was raised.',
    ],
    [
      'a breaker that is always tripped',
      { breaker: { messagesPerMinuteMax: 10 } },
      'Test/Broker: breaker.messagesPerMinuteMax is a whole number from 1,000 up, not 10. To have no breaker, say `breaker: false`.',
    ],
    [
      'too little memory',
      { memorySizeMegabytes: 128 },
      'Test/Broker: memorySizeMegabytes is a whole number from 256 to 10,240, not 128.',
    ],
    [
      'keys that anybody on the way could replace',
      { authentication: { jwksUrl: 'http://id.example.com/keys', issuer: 'x' } },
      'Test/Broker: authentication.jwksUrl is an https:// URL, not "http://id.example.com/keys".',
    ],
    [
      'no issuer',
      { authentication: { jwksUrl: 'https://id.example.com/keys', issuer: '' } },
      'Test/Broker: authentication.issuer is empty: tokens of anybody who shares the keys would be accepted.',
    ],
    [
      'rules for tokens that are no filters',
      { tokenDefaultRules: { publish: ['chat/%u/#'], subscribe: ['chat/#/all'] } },
      'Test/Broker: tokenDefaultRules.subscribe: A topic filter has # only as its whole last level: "chat/#/all".',
    ],
    [
      'rules for tokens where nobody shows one',
      { authentication: 'anonymous', tokenDefaultRules: { publish: ['#'] } },
      'Test/Broker: tokenDefaultRules is for tokens, and with authentication: anonymous nobody shows one.',
    ],
    [
      'a limit that is none',
      { limits: { recieveMaximum: 3 } },
      'Test/Broker: limits.recieveMaximum is no limit of the broker. There are maximumPacketSize,',
    ],
    [
      'a negative limit',
      { limits: { receiveMaximum: -1 } },
      'Test/Broker: limits.receiveMaximum is a whole number from 0 up, not -1.',
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
      { throttle: { framesPerSecond: 1 }, connectTimeoutSeconds: 5, deliveriesPerIdentityPerMinuteMax: 0 },
    ],
    [
      'most',
      { memorySizeMegabytes: 10_240, connectTimeoutSeconds: 600, fanOut: { maxPostsPerSecond: 100_000 } },
    ],
    ['none', { breaker: false, alarms: false, dashboard: false, httpPublish: false }],
  ])('the %s that may be', (_, props) => {
    expect(() => synthBroker(props)).not.toThrow();
  });
});

describe('grantPublish', () => {
  it('says why nobody can be granted it', () => {
    const { broker } = synthBroker({ httpPublish: false });
    expect(() => broker.httpPublishUrl).toThrow(
      'Test/Broker: there is no HTTP endpoint, since httpPublish is false.',
    );
  });
});
