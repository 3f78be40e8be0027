import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { newOutdir, synthApp, synthBroker } from './support/synth.ts';

const THINGS = {
  name: 'things',
  iotCore: {},
  in: [
    { filter: 'things/#' },
    { filter: '+/shadow/update/accepted', localPrefix: 'shadows/', remotePrefix: '$aws/things/' },
  ],
};
const MSK = {
  name: 'market',
  kafka: { aws: { clusterArn: 'arn:aws:kafka:eu-west-1:123456789012:cluster/market/0a1b-2' } },
  in: [{ topic: 'prices', to: 'prices/{key}' }],
};

describe('a broker with a bridge from AWS IoT Core', () => {
  const { template } = synthBroker({ iotCore: [THINGS] });

  it('has an IoT rule for each mapping, whose messages, and whose errors, go to queues', () => {
    const rules = Object.values(template.findResources('AWS::IoT::TopicRule'));
    const froms = rules.map(({ Properties }) => /FROM '(.*)'$/.exec(Properties.TopicRulePayload.Sql)?.[1]);
    expect(froms).toEqual(['things/#', '$aws/things/+/shadow/update/accepted']);
    const into = {
      Sqs: { QueueUrl: { Ref: Match.anyValue() }, RoleArn: Match.anyValue(), UseBase64: false },
    };
    template.allResourcesProperties('AWS::IoT::TopicRule', {
      TopicRulePayload: { AwsIotSqlVersion: '2016-03-23', Actions: [into], ErrorAction: into },
    });
  });

  it('lets IoT send to these queues, and do nothing else', () => {
    const actions = permissionsOf(template, 'BrokerIotRulesRole').map((each) => each.split(' ')[0]);
    expect(new Set(actions)).toEqual(
      new Set(['sqs:SendMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl']),
    );
  });

  it('has one function for the queue, which reports each message that has to come again', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 10,
      FunctionName: { Ref: Match.stringLikeRegexp('^BrokerIotCore') },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });

  it.each([
    ['Messages of AWS IoT Core could not be published.', 'iot-core-errors'],
    ['Messages of AWS IoT Core wait.', 'iot-core-delay'],
    ['A message of AWS IoT Core was given up.', 'iot-core-dead-letters'],
    ['Messages of AWS IoT Core could be none here, and were left out.', 'iot-core-messages-skipped'],
  ])('has an alarm: %s', (description, anchor) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmDescription: `${description} docs/runbook.md#${anchor}`,
    });
  });
});

it('a broker without such a bridge has no rule, queue and function for it', () => {
  expect(JSON.stringify(synthBroker().template.toJSON())).not.toContain('IotCore');
});

it('a bridge that a deployment does not support is refused at synthesis', () => {
  expect(() => synthBroker({ iotCore: [{ ...THINGS, out: [{ filter: 'a' }] } as never] })).toThrow(
    'iotCore[0].out is for the node: messages of a deployment leave for IoT Core by a rule',
  );
  const long = Array.from({ length: 60 }, (_, index) => ({
    filter: `topic-${index}`,
    localPrefix: 'a-long-prefix/',
  }));
  expect(() => synthBroker({ iotCore: [{ ...THINGS, in: long }] })).toThrow('and a function takes 2048');
});

it('a deployment takes the file of apus serve, with bridges of both kinds', () => {
  const file = join(newOutdir(), 'bridges.json');
  writeFileSync(file, JSON.stringify({ bridges: [MSK, THINGS] }));
  const template = synthApp({ bridges: file });
  template.resourceCountIs('AWS::IoT::TopicRule', 2);
  template.hasResourceProperties('AWS::Lambda::EventSourceMapping', { Topics: ['prices'] });
});

it('the files of the example deploy', () => {
  const file = (name: string) => fileURLToPath(new URL(`../../examples/iot-bridge/${name}`, import.meta.url));
  const template = synthApp({ bridges: file('deployed.json'), rules: file('rules.json') });
  template.resourceCountIs('AWS::IoT::TopicRule', 1);
  expect(permissionsOf(template, 'BrokerRulesRole').some((each) => each.startsWith('iot:Publish'))).toBe(
    true,
  );
});
