import { createPublisher } from '@apus/publish';
import { ApiGatewayV2Client, GetStageCommand } from '@aws-sdk/client-apigatewayv2';
import { CloudWatchClient, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import {
  GetEventSourceMappingCommand,
  GetFunctionConcurrencyCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { expect, it } from 'vitest';
import { callApi } from '../support/api.ts';
import { invoke, physicalIdOf, until } from '../support/aws.ts';
import { connectClient, type TestClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';

/** More subscribers than the eight in a filter's head item: workers serve the rest. */
const SUBSCRIBERS = 24;
const COUNT = 10;

async function subscribeMany(topic: string, qos: 0 | 1): Promise<readonly TestClient[]> {
  const clients: TestClient[] = [];
  for (let index = 0; index < SUBSCRIBERS; index += 1) {
    const client = await connectClient();
    await client.mqtt.subscribeAsync(topic, { qos });
    clients.push(client);
  }
  return clients;
}

function numbered(prefix: string): readonly string[] {
  return Array.from({ length: COUNT }, (_, index) => `${prefix} ${index}`);
}

it.each([0, 1] as const)(
  'a message of QoS %i for many subscribers reaches each of them, in order',
  async (qos) => {
    const topic = unique('wide');
    const subscribers = await subscribeMany(topic, qos);
    const publisher = await connectClient();
    const texts = numbered('message');
    await Promise.all(texts.map((text) => publisher.mqtt.publishAsync(topic, text, { qos })));
    for (const subscriber of subscribers) expect(await subscriber.texts(COUNT)).toEqual(texts);
  },
);

/** The present state of the settings that the breaker changes. */
interface Stopped {
  readonly rate: number | undefined;
  readonly source: string | undefined;
  /** Undefined: nothing is reserved, as it was deployed. */
  readonly publishConcurrency: number | undefined;
}

async function stateOfBreaker(): Promise<Stopped> {
  const apiId = await physicalIdOf('BrokerApi', 'AWS::ApiGatewayV2::Api');
  const source = await physicalIdOf('BrokerFanOutSource', 'AWS::Lambda::EventSourceMapping');
  const { DefaultRouteSettings } = await new ApiGatewayV2Client().send(
    new GetStageCommand({ ApiId: apiId, StageName: 'mqtt' }),
  );
  const lambda = new LambdaClient();
  const { State } = await lambda.send(new GetEventSourceMappingCommand({ UUID: source }));
  const FunctionName = await physicalIdOf('BrokerPublish', 'AWS::Lambda::Function');
  const { ReservedConcurrentExecutions } = await lambda.send(
    new GetFunctionConcurrencyCommand({ FunctionName }),
  );
  return {
    rate: DefaultRouteSettings?.ThrottlingRateLimit,
    source: State,
    publishConcurrency: ReservedConcurrentExecutions,
  };
}

it('a runaway trips the breaker: backends are refused, workers stop, their jobs wait, and all go on when it is closed', async () => {
  const topic = unique('runaway');
  const subscribers = await subscribeMany(topic, 1);
  const publisher = await connectClient();
  const alarmName = await physicalIdOf('BrokerRunawayAlarm', 'AWS::CloudWatch::Alarm');
  await new CloudWatchClient().send(
    new SetAlarmStateCommand({ AlarmName: alarmName, StateValue: 'ALARM', StateReason: 'a test says so' }),
  );
  await until(
    stateOfBreaker,
    (now) => now.rate === 1 && now.source === 'Disabled' && now.publishConcurrency === 0,
  );
  const { body: tripped } = await until(
    () => callApi('GET', 'breaker'),
    ({ body }) => body.state === 'tripped',
  );
  expect(tripped).toMatchObject({ frames_per_second_max: 1, messages_per_minute_max: 100_000 });
  const backend = createPublisher({ url: deployed.publishUrl, key: deployed.publishKey, attemptsMax: 1 });
  await expect(backend.publish(`${topic}/backend`, 'refused')).rejects.toMatchObject({ status: 429 });

  const texts = numbered('waited');
  await Promise.all(texts.map((text) => publisher.mqtt.publishAsync(topic, text, { qos: 1 })));
  // The publisher has its PUBACKs: the messages are in the queue, and reach the subscribers in the shards afterwards.
  expect(subscribers.some(({ received }) => received.length < COUNT)).toBe(true);

  expect(await invoke(deployed.breakerName, { action: 'reset' })).toEqual({ state: 'closed' });
  for (const subscriber of subscribers) expect(await subscriber.texts(COUNT)).toEqual(texts);
  await until(stateOfBreaker, (now) => now.rate === 500 && now.source === 'Enabled');
  expect((await stateOfBreaker()).publishConcurrency).toBeUndefined();
  expect(await backend.publish(`${topic}/backend`, 'taken')).toMatchObject({ hasSubscribers: false });
});
