import { readStreams } from '@apus/broker';
import { Parser } from '@asyncapi/parser';
import { describe, expect, it } from 'vitest';
import { TopicCatalogue } from '../src/catalogue.ts';
import { readTopics } from '../src/topics.ts';

const FILE = {
  title: 'The plant',
  version: '2.1.0',
  description: 'What the plant says.',
  token: 'Ask the plant.',
  topics: [
    {
      topic: 'sensors/{sensor}/temperature',
      title: 'Temperature',
      description: 'Each ten seconds.',
      parameters: { sensor: { description: 'Its serial number', examples: ['s-1'] } },
      payload: {
        $defs: { celsius: { type: 'number' } },
        type: 'object',
        properties: { celsius: { $ref: '#/$defs/celsius' } },
        required: ['celsius'],
      },
      examples: [{ celsius: 20.5 }],
      publish: 'The sensor itself',
      subscribe: 'All clients',
      checkPayload: true,
      sampled: true,
    },
    { topic: 'pictures/{camera}', contentType: 'image/png', subscribe: 'All clients' },
    { topic: 'secrets', tenants: ['acme'], publish: 'acme' },
  ],
};
const SERVERS = [
  { name: 'node', url: 'ws://127.0.0.1:8083/mqtt', door: 'node' },
  { name: 'gateway', url: 'wss://x.example/prod', door: 'gateway' },
] as const;
const streams = readStreams(
  [
    { name: 'measured', topicFilter: 'sensors/#' },
    { name: 'chat', topicFilter: 'chat/+/#' },
  ],
  'streams',
).all;

const catalogue = new TopicCatalogue(readTopics(FILE));
const documentFor = (tenant: string) => catalogue.asyncApi({ tenant, servers: SERVERS, streams });

async function parsed(document: object) {
  const { document: read, diagnostics } = await new Parser().parse(JSON.stringify(document));
  // Severity 0 is an error, 1 a warning. The others are hints, for example that there is a newer version of AsyncAPI.
  expect(diagnostics.filter(({ severity }) => severity < 1)).toEqual([]);
  if (read === undefined) throw new Error('the document cannot be parsed');
  return read;
}

describe('the AsyncAPI document', () => {
  it('is valid to the parser of AsyncAPI, with each topic, its payload, examples and operations', async () => {
    catalogue.payloads.problemOf('default', 'sensors/1/temperature', Buffer.from('{"celsius":7}'));
    const document = await parsed(documentFor('default'));
    expect(document.info().title()).toBe('The plant');
    expect(
      document
        .channels()
        .all()
        .map((channel) => channel.address()),
    ).toEqual(['sensors/{sensor}/temperature', 'pictures/{camera}', 'chat/{level2}/{rest}']);
    const [temperature] = document.channels().all();
    const [message] = temperature?.messages().all() ?? [];
    expect(message?.payload()?.json()).toMatchObject({ properties: { celsius: { type: 'number' } } });
    expect(
      message
        ?.examples()
        .all()
        .map((example) => example.payload()),
    ).toEqual([{ celsius: 20.5 }, { celsius: 7 }]);
    expect(
      temperature
        ?.operations()
        .all()
        .map((operation) => [operation.action(), operation.summary()]),
    ).toEqual([
      ['receive', 'The sensor itself'],
      ['send', 'All clients'],
    ]);
    expect(
      document
        .servers()
        .all()
        .map((server) => server.url()),
    ).toEqual(['ws://127.0.0.1:8083/mqtt', 'wss://x.example/prod']);
  });

  it('contains the topics of one tenant, and examples of that tenant alone', async () => {
    const document = await parsed(documentFor('acme'));
    const addresses = document
      .channels()
      .all()
      .map((channel) => channel.address());
    expect(addresses).toContain('secrets');
    expect(JSON.stringify(document.json())).not.toContain('"celsius":7');
  });

  it('has a parameter with the name of an inherited member', () => {
    const topic = { topic: 'sensors/{constructor}', payload: {}, subscribe: 'All clients' };
    const [described] = readTopics({ ...FILE, topics: [topic] }).topics;
    expect(described?.parameters).toEqual({ constructor: {} });
  });

  it('is valid without any topic', async () => {
    const empty = new TopicCatalogue(readTopics({ topics: [] }));
    const document = await parsed(empty.asyncApi({ tenant: 'default', servers: [], streams: [] }));
    expect(document.channels().all()).toEqual([]);
  });

  it('names the servers that the file names', async () => {
    const servers = [{ name: 'production', url: 'wss://mqtt.example/prod', door: 'gateway' }];
    const named = new TopicCatalogue(readTopics({ ...FILE, servers }));
    const document = await parsed(named.asyncApi({ tenant: 'default', servers: SERVERS, streams: [] }));
    expect(
      document
        .servers()
        .all()
        .map((server) => server.url()),
    ).toEqual(['wss://mqtt.example/prod']);
  });
});

describe('a topics file', () => {
  it.each([
    [{}, 'topics is a list'],
    [{ topics: [], topic: 1 }, 'the file has no field "topic"'],
    [{ topics: [{ topic: 'a/#' }] }, 'no wildcards'],
    [{ topics: [{ topic: '$SYS/a' }] }, 'no "$" in front'],
    [{ topics: [{ topic: 'a/x{b}' }] }, 'a parameter is a whole level'],
    [{ topics: [{ topic: 'a/{b}/{b}' }] }, 'a parameter twice'],
    [{ topics: [{ topic: 'a/{b}' }, { topic: 'a/{c}' }] }, 'describes a/{c} twice'],
    [{ topics: [{ topic: 'a', parameters: { b: {} } }] }, 'has no field "b": there are none'],
    [{ topics: [{ topic: 'a', sampled: true }] }, 'sampled needs checkPayload'],
    [{ topics: [{ topic: 'a', tenants: 'acme' }] }, 'tenants is a list'],
    [{ topics: [], servers: [{ name: 'x', url: 'http://x', door: 'node' }] }, 'url begins with wss://'],
    [{ topics: [{ topic: '' }] }, 'topic'],
  ])('is refused that says %j', (file, sentence) => {
    expect(() => readTopics(file)).toThrow(sentence);
  });
});
