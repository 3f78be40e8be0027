import { GetStageCommand, UpdateStageCommand } from '@aws-sdk/client-apigatewayv2';
import {
  DeleteFunctionConcurrencyCommand,
  PutFunctionConcurrencyCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { PublishCommand } from '@aws-sdk/client-sns';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { Breaker, type BreakerOptions } from '../functions/breaker.ts';
import { synthBroker } from './support/synth.ts';

/** Records the commands in order; a service answers with its first matching answer, or fails. */
function services(failing: readonly string[], stage: object) {
  const sent: object[] = [];
  const send = async (command: { readonly input: object }) => {
    sent.push({ [command.constructor.name]: command.input });
    if (failing.includes(command.constructor.name)) throw new Error(`${command.constructor.name} failed`);
    return command instanceof GetStageCommand ? stage : {};
  };
  return { sent, client: { send } as never };
}

function breakerFor(
  failing: readonly string[] = [],
  options: Partial<BreakerOptions> = {},
  stage: object = { DefaultRouteSettings: { LoggingLevel: 'ERROR' } },
) {
  const { sent, client } = services(failing, stage);
  const lines: string[] = [];
  const breaker = new Breaker({
    gateway: client,
    lambda: client,
    sns: client,
    apiId: 'api1',
    stageName: 'mqtt',
    throttle: { framesPerSecond: 500, burstFrames: 1_000 },
    eventSourceMappingIds: ['esm1'],
    publishFunctionName: 'publish1',
    publishReservedConcurrency: undefined,
    topicArn: 'arn:topic',
    resetAfterMs: RESET_MS,
    now: () => NOW_MS,
    log: (line) => lines.push(line),
    ...options,
  });
  return { breaker, sent, lines };
}

const RESET_MS = 20 * 60_000;
const NOW_MS = Date.UTC(2026, 0, 1);

const ALARM = {
  Records: [{ Sns: { Message: '{"AlarmName":"Runaway","NewStateReason":"120000 messages in a minute"}' } }],
};

/** Without their order: all services are called at the same time. */
function stageUpdate(rate: number, burst: number): object {
  return {
    [UpdateStageCommand.name]: {
      ApiId: 'api1',
      StageName: 'mqtt',
      DefaultRouteSettings: {
        LoggingLevel: 'ERROR',
        ThrottlingRateLimit: rate,
        ThrottlingBurstLimit: burst,
      },
    },
  };
}

function sourceUpdate(isEnabled: boolean): object {
  return { [UpdateEventSourceMappingCommand.name]: { UUID: 'esm1', Enabled: isEnabled } };
}

const BACKENDS_STOPPED = {
  [PutFunctionConcurrencyCommand.name]: { FunctionName: 'publish1', ReservedConcurrentExecutions: 0 },
};
const BACKENDS_LET_IN = { [DeleteFunctionConcurrencyCommand.name]: { FunctionName: 'publish1' } };

describe('the breaker', () => {
  it('throttles the stage on its alarm, keeps the other settings, stops workers and backends, and gives the reason', async () => {
    const { breaker, sent, lines } = breakerFor();
    expect(await breaker.handle(ALARM)).toEqual({ state: 'tripped' });
    expect(sent).toContainEqual(stageUpdate(1, 1));
    expect(sent).toContainEqual(sourceUpdate(false));
    expect(sent).toContainEqual(BACKENDS_STOPPED);
    expect(sent.at(-1)).toEqual({
      [PublishCommand.name]: {
        TopicArn: 'arn:topic',
        Subject: 'Apus: the breaker has tripped',
        Message: expect.stringMatching(/^Runaway: 120000 messages in a minute .*Backends are refused/),
      },
    });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'WARN', event: 'breaker' });
  });

  it('restores the deployed settings on reset', async () => {
    const { breaker, sent } = breakerFor();
    expect(await breaker.handle({ action: 'reset' })).toEqual({ state: 'closed' });
    expect(sent).toContainEqual(stageUpdate(500, 1_000));
    expect(sent).toContainEqual(sourceUpdate(true));
    expect(sent).toContainEqual(BACKENDS_LET_IN);
  });

  it('reserves the concurrency of the backends again on reset, as deployed', async () => {
    const { breaker, sent } = breakerFor([], { publishReservedConcurrency: 20 });
    await breaker.handle(ALARM);
    expect(sent).toContainEqual(BACKENDS_STOPPED);
    await breaker.handle({ action: 'reset' });
    expect(sent).toContainEqual({
      [PutFunctionConcurrencyCommand.name]: { FunctionName: 'publish1', ReservedConcurrentExecutions: 20 },
    });
    expect(sent).not.toContainEqual(BACKENDS_LET_IN);
  });

  it('stops and starts every source of work: workers, Kafka, rules', async () => {
    const { breaker, sent } = breakerFor([], { eventSourceMappingIds: ['esm1', 'esm2'] });
    await breaker.handle(ALARM);
    await breaker.handle({ action: 'reset' });
    for (const UUID of ['esm1', 'esm2'])
      for (const Enabled of [false, true])
        expect(sent).toContainEqual({ [UpdateEventSourceMappingCommand.name]: { UUID, Enabled } });
  });

  it('does not touch functions, and does not mention backends, if none publish', async () => {
    const { breaker, sent } = breakerFor([], { publishFunctionName: undefined });
    await breaker.handle(ALARM);
    await breaker.handle({ action: 'reset' });
    expect(JSON.stringify(sent)).not.toMatch(/FunctionConcurrency|Backends/);
  });

  it.each([
    ['the stage', GetStageCommand.name, [sourceUpdate(false), BACKENDS_STOPPED]],
    ['the workers', UpdateEventSourceMappingCommand.name, [stageUpdate(1, 1), BACKENDS_STOPPED]],
    ['backends', PutFunctionConcurrencyCommand.name, [stageUpdate(1, 1), sourceUpdate(false)]],
  ])(
    'does the rest when %s cannot be stopped, and fails so that Lambda calls again',
    async (_, name, rest) => {
      const { breaker, sent } = breakerFor([name]);
      await expect(breaker.handle(ALARM)).rejects.toThrow(`${name} failed`);
      for (const each of rest) expect(sent).toContainEqual(each);
      expect(sent.filter((each) => PublishCommand.name in each)).toEqual([]);
    },
  );

  it('only logs if there is no topic', async () => {
    const { breaker, sent, lines } = breakerFor([], { topicArn: undefined });
    await breaker.handle({ action: 'trip' });
    expect(sent.filter((each) => PublishCommand.name in each)).toEqual([]);
    expect(lines).toHaveLength(1);
  });

  it('passes on messages that it cannot read', async () => {
    const { breaker, sent } = breakerFor();
    await breaker.handle({ Records: [{ Sns: { Message: 'somebody wrote this' } }] });
    expect(JSON.stringify(sent.at(-1))).toContain('somebody wrote this');
  });

  /** The stage as it is some time after a change. */
  const stageOf = (framesPerSecond: number, agoMs: number) => ({
    DefaultRouteSettings: { LoggingLevel: 'ERROR', ThrottlingRateLimit: framesPerSecond },
    LastUpdatedDate: new Date(NOW_MS - agoMs),
  });

  it('closes by itself at the first check after twenty minutes, so that all clients reconnect [SEC-QUOTA-7]', async () => {
    const early = breakerFor([], {}, stageOf(1, RESET_MS - 1));
    expect(await early.breaker.handle({ action: 'look' })).toEqual({ state: 'tripped' });
    expect(early.sent).toHaveLength(1);
    const late = breakerFor([], {}, stageOf(1, RESET_MS));
    expect(await late.breaker.handle({ action: 'look' })).toEqual({ state: 'closed' });
    expect(late.sent).toContainEqual(stageUpdate(500, 1_000));
    expect(late.sent).toContainEqual(sourceUpdate(true));
    expect(late.sent).toContainEqual(BACKENDS_LET_IN);
  });

  it('checks again if the workers could not be started: its throttle stays until they are', async () => {
    const { breaker, sent } = breakerFor([UpdateEventSourceMappingCommand.name], {}, stageOf(1, RESET_MS));
    await expect(breaker.handle({ action: 'look' })).rejects.toThrow('failed');
    expect(sent.filter((each) => UpdateStageCommand.name in each)).toEqual([]);
  });

  it.each([
    ['that has not tripped', stageOf(500, RESET_MS), {}],
    ['whose owner wants to reset it', stageOf(1, RESET_MS), { resetAfterMs: undefined }],
    [
      'whose stage lets one frame a second through when nothing is wrong',
      stageOf(1, RESET_MS),
      { throttle: { framesPerSecond: 1, burstFrames: 1 } },
    ],
  ])('changes nothing when it looks after one %s', async (_, stage, options) => {
    const { breaker, sent } = breakerFor([], options, stage);
    await breaker.handle({ action: 'look' });
    expect(sent).toHaveLength(1);
  });

  it('refuses an unknown action', async () => {
    const { breaker, sent } = breakerFor();
    await expect(breaker.handle({ action: 'stop' } as never)).rejects.toThrow(
      '"action" is "trip", "reset" or "look", not "stop"',
    );
    expect(sent).toEqual([]);
  });
});

describe('the breaker in the template', () => {
  it('checks on the schedule of the sweep, unless only its owner resets it', () => {
    const looks = { Targets: Match.arrayWith([Match.objectLike({ Input: '{"action":"look"}' })]) };
    const reset = (minutes: string) => ({
      Environment: { Variables: Match.objectLike({ BREAKER_RESET_MINUTES: minutes }) },
    });
    const byItself = synthBroker({}).template;
    byItself.hasResourceProperties('AWS::Events::Rule', looks);
    byItself.hasResourceProperties('AWS::Lambda::Function', reset('20'));
    const byHand = synthBroker({ breaker: { resetMinutes: 0 } }).template;
    expect(JSON.stringify(byHand.findResources('AWS::Events::Rule'))).not.toContain('action');
  });

  const { template } = synthBroker({ breaker: { messagesPerMinuteMax: 40_000 } });

  it('is invoked by an alarm over one minute, through a topic of its own', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/ApiGateway',
      MetricName: 'MessageCount',
      Statistic: 'Sum',
      Period: 60,
      EvaluationPeriods: 1,
      Threshold: 40_000,
      ComparisonOperator: 'GreaterThanThreshold',
      AlarmActions: Match.arrayWith([{ Ref: Match.stringLikeRegexp('^BrokerBreakerTopic') }]),
    });
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'lambda',
      TopicArn: { Ref: Match.stringLikeRegexp('^BrokerBreakerTopic') },
      Endpoint: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BrokerBreaker'), 'Arn'] },
    });
  });

  it('has the settings to restore', () => {
    const { template: other } = synthBroker({ throttle: { framesPerSecond: 70, burstFrames: 90 } });
    other.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({ BREAKER_FRAMES_PER_SECOND: '70', BREAKER_BURST_FRAMES: '90' }),
      },
    });
  });

  it.each(['iam', 'keys'] as const)('has the function of the publish URL with %s', (httpPublish) => {
    const { template: other } = synthBroker({ httpPublish, publishReservedConcurrency: 20 });
    other.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          BREAKER_PUBLISH_RESERVED_CONCURRENCY: '20',
          BREAKER_PUBLISH_FUNCTION_NAME: { Ref: Match.stringLikeRegexp('^BrokerPublish') },
        }),
      },
    });
    expect(JSON.stringify(template.toJSON())).not.toContain('BREAKER_PUBLISH_FUNCTION_NAME');
  });

  it('exists without the other alarms, and not if the owner wants none', () => {
    const alone = synthBroker({ alarms: false }).template;
    alone.resourceCountIs('AWS::CloudWatch::Alarm', 1);
    const none = synthBroker({ breaker: false });
    none.template.resourcePropertiesCountIs('AWS::CloudWatch::Alarm', { MetricName: 'MessageCount' }, 0);
    expect(none.broker.breaker).toBeUndefined();
  });
});
