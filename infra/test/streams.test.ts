import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { newOutdir, synthApp, synthBroker } from './support/synth.ts';

const STREAMS = [{ name: 'chat', topicFilter: 'chat/#', keepSeconds: 3600 }];

function variablesOf(template: Template, idPrefix: string): Readonly<Record<string, unknown>> {
  const functions = Object.entries(template.findResources('AWS::Lambda::Function'));
  const [, found] = functions.find(([id]) => new RegExp(`^${idPrefix}[0-9A-F]{8}$`).test(id)) ?? [];
  return found?.Properties.Environment.Variables ?? {};
}

describe('a broker without streams', () => {
  const { template, broker } = synthBroker();

  it('has no table for them, and its functions know of none', () => {
    template.resourceCountIs('AWS::DynamoDB::Table', 2);
    expect(broker.streamsTable).toBeUndefined();
    const variables = variablesOf(template, 'BrokerGateway');
    expect(Object.keys(variables).filter((name) => name.includes('STREAMS'))).toEqual([]);
  });
});

describe('a broker with streams', () => {
  const { template } = synthBroker({ streams: STREAMS });

  it('keeps them in a table of its own, which TTL empties, and which stays with the data', () => {
    template.resourceCountIs('AWS::DynamoDB::Table', 3);
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: Match.objectLike({ TimeToLiveSpecification: { AttributeName: 't', Enabled: true } }),
    });
  });

  it.each(['Gateway', 'Disconnect', 'FanOut', 'Timers', 'Sweep'])(
    '%s knows the streams and their table',
    (id) => {
      const { APUS_STREAMS, APUS_STREAMS_TABLE_NAME } = variablesOf(template, `Broker${id}`);
      expect(JSON.parse(String(APUS_STREAMS))).toEqual(STREAMS);
      expect(APUS_STREAMS_TABLE_NAME).toEqual({ Ref: expect.stringMatching(/^BrokerStreamsTable/) });
    },
  );

  it('no function may scan the table, or delete from it', () => {
    for (const id of ['Gateway', 'Disconnect', 'FanOut', 'Timers', 'Sweep', 'Operator']) {
      const allowed = permissionsOf(template, `Broker${id}Role`).filter((each) =>
        each.endsWith('{BrokerStreamsTable}'),
      );
      expect(allowed).toEqual(
        ['GetItem', 'PutItem', 'Query', 'UpdateItem'].map(
          (action) => `dynamodb:${action} {BrokerStreamsTable}`,
        ),
      );
    }
  });

  it('watches the table', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'WriteThrottleEvents',
      Dimensions: [{ Name: 'TableName', Value: { Ref: Match.stringLikeRegexp('^BrokerStreamsTable') } }],
    });
  });
});

describe('a broker with presence', () => {
  const { template } = synthBroker({ presence: true });

  it.each(['Gateway', 'Disconnect', 'FanOut', 'Timers', 'Sweep', 'Operator'])(
    '%s knows of presence, and may delete members from the table',
    (id) => {
      const { APUS_PRESENCE, APUS_STREAMS, APUS_STREAMS_TABLE_NAME } = variablesOf(template, `Broker${id}`);
      expect([APUS_PRESENCE, APUS_STREAMS]).toEqual(['on', undefined]);
      expect(APUS_STREAMS_TABLE_NAME).toEqual({ Ref: expect.stringMatching(/^BrokerStreamsTable/) });
      const allowed = permissionsOf(template, `Broker${id}Role`).filter((each) =>
        each.endsWith('{BrokerStreamsTable}'),
      );
      const actions = ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'];
      expect(allowed).toEqual(actions.map((action) => `dynamodb:${action} {BrokerStreamsTable}`));
    },
  );

  it('is asked for by a flag of the deployment', () => {
    const variables = variablesOf(synthApp({ presence: 'true' }), 'BrokerGateway');
    expect(variables.APUS_PRESENCE).toBe('on');
    expect(variablesOf(synthApp({}), 'BrokerGateway').APUS_PRESENCE).toBeUndefined();
  });
});

it.each([
  [[{ name: 'a/b', topicFilter: 'a' }], /name has 1 to 64/],
  [[...STREAMS, { name: 'all', topicFilter: '#' }], /topics in common/],
  [
    Array.from({ length: 60 }, (_, index) => ({ name: `s${index}`, topicFilter: `topic-${index}/#` })),
    /bytes as JSON/,
  ],
])('streams that a function could not have are refused at synthesis (%#)', (streams, sentence) => {
  expect(() => synthBroker({ streams })).toThrow(sentence);
});

it('a deployment takes the file of apus serve, and says the name of the table', () => {
  const file = join(newOutdir(), 'streams.json');
  writeFileSync(file, JSON.stringify({ streams: STREAMS }));
  const { Outputs } = synthApp({ streams: file }).toJSON();
  expect(Outputs.StreamsTableName.Value).toEqual({ Ref: expect.stringMatching(/^BrokerStreamsTable/) });
});
