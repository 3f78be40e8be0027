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

/** What was sent, in its order; a service answers with its first answer that fits, or fails. */
function services(failing: readonly string[] = []) {
  const sent: object[] = [];
  const send = async (command: { readonly input: object }) => {
    sent.push({ [command.constructor.name]: command.input });
    if (failing.includes(command.constructor.name)) throw new Error(`${command.constructor.name} failed`);
    return command instanceof GetStageCommand ? { DefaultRouteSettings: { LoggingLevel: 'ERROR' } } : {};
  };
  return { sent, client: { send } as never };
}

function breakerFor(failing: readonly string[] = [], options: Partial<BreakerOptions> = {}) {
  const { sent, client } = services(failing);
  const lines: string[] = [];
  const breaker = new Breaker({
    gateway: client,
    lambda: client,
    sns: client,
    apiId: 'api1',
    stageName: 'mqtt',
    throttle: { framesPerSecond: 500, burstFrames: 1_000 },
    eventSourceMappingId: 'esm1',
    publishFunctionName: 'publish1',
    topicArn: 'arn:topic',
    log: (line) => lines.push(line),
    ...options,
  });
  return { breaker, sent, lines };
}

const ALARM = {
  Records: [{ Sns: { Message: '{"AlarmName":"Runaway","NewStateReason":"120000 messages in a minute"}' } }],
};

/** Without their order: all services are asked at the same time. */
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
  it('on its alarm throttles the stage, keeps its other settings, stops workers and backends, and says why', async () => {
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

  it('on reset restores what was deployed', async () => {
    const { breaker, sent } = breakerFor();
    expect(await breaker.handle({ action: 'reset' })).toEqual({ state: 'closed' });
    expect(sent).toContainEqual(stageUpdate(500, 1_000));
    expect(sent).toContainEqual(sourceUpdate(true));
    expect(sent).toContainEqual(BACKENDS_LET_IN);
  });

  it('leaves functions alone, and says nothing of backends, where none publish', async () => {
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

  it('tells the log alone where there is no topic', async () => {
    const { breaker, sent, lines } = breakerFor([], { topicArn: undefined });
    await breaker.handle({ action: 'trip' });
    expect(sent.filter((each) => PublishCommand.name in each)).toEqual([]);
    expect(lines).toHaveLength(1);
  });

  it('passes on what it cannot read', async () => {
    const { breaker, sent } = breakerFor();
    await breaker.handle({ Records: [{ Sns: { Message: 'somebody wrote this' } }] });
    expect(JSON.stringify(sent.at(-1))).toContain('somebody wrote this');
  });

  it('refuses an action that is none', async () => {
    const { breaker, sent } = breakerFor();
    await expect(breaker.handle({ action: 'stop' } as never)).rejects.toThrow(
      '"action" is "trip" or "reset", not "stop"',
    );
    expect(sent).toEqual([]);
  });
});

describe('the breaker in the template', () => {
  const { template } = synthBroker({ breaker: { messagesPerMinuteMax: 40_000 } });

  it('is told by an alarm over one minute, through a topic of its own', () => {
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

  it('knows what to restore', () => {
    const { template: other } = synthBroker({ throttle: { framesPerSecond: 70, burstFrames: 90 } });
    other.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({ BREAKER_FRAMES_PER_SECOND: '70', BREAKER_BURST_FRAMES: '90' }),
      },
    });
  });

  it.each(['iam', 'keys'] as const)('knows whom backends publish through with %s', (httpPublish) => {
    const { template: other } = synthBroker({ httpPublish });
    other.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          BREAKER_PUBLISH_FUNCTION_NAME: { Ref: Match.stringLikeRegexp('^BrokerPublish') },
        }),
      },
    });
    expect(JSON.stringify(template.toJSON())).not.toContain('BREAKER_PUBLISH_FUNCTION_NAME');
  });

  it('is there without the other alarms, and is not when the owner wants none', () => {
    const alone = synthBroker({ alarms: false }).template;
    alone.resourceCountIs('AWS::CloudWatch::Alarm', 1);
    const none = synthBroker({ breaker: false });
    none.template.resourcePropertiesCountIs('AWS::CloudWatch::Alarm', { MetricName: 'MessageCount' }, 0);
    expect(none.broker.breaker).toBeUndefined();
  });
});
