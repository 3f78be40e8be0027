import { PostToConnectionCommand } from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import type { Environment, LambdaContext } from '../../src/index.ts';
import { Client, deferred, eventually, managementClient, ok, start } from '../support.ts';

test('invocations that overlap get an environment each, later ones use those again', async () => {
  const created: number[] = [];
  const gate = deferred();
  const bothRun = deferred();
  let running = 0;
  const emulator = await start((environment) => {
    created.push(environment.coldStart);
    return {
      async default(event) {
        running += 1;
        if (running === 2) bothRun.resolve();
        if (event.body === 'wait') await gate.promise;
        return { ...ok, body: environment.id };
      },
    };
  });
  const client = await Client.open(emulator.url);
  client.send('wait');
  client.send('wait');
  await bothRun.promise;
  gate.resolve();
  const [one, other] = await client.nextMessages(2);
  expect(one).not.toBe(other);
  await emulator.quiet();
  client.send('again');
  expect([one, other]).toContain(await client.next());
  expect(created).toEqual([0, 1]);
  expect(emulator.counters.snapshot().lambda).toMatchObject({ coldStarts: 2, invocations: 4 });
});

test('a cold start takes its time, which is billed, and a warm one does not', async () => {
  const emulator = await start({}, { lambda: { coldStartMs: 300 } });
  const opening = Client.open(emulator.url);
  await eventually(() => emulator.clock.pending > 0);
  await emulator.clock.advance(299);
  expect(emulator.connectionIds()).toEqual([]);
  await emulator.clock.advance(1);
  const client = await opening;
  client.send('warm');
  expect(await client.next()).toBe('warm');
  expect(emulator.counters.snapshot().lambda).toMatchObject({
    coldStarts: 1,
    initMilliseconds: 300,
    billedMilliseconds: 302,
  });
});

test('retired environments do not serve again', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  emulator.retireIdleEnvironments();
  client.send('hello');
  await client.next();
  expect(emulator.counters.snapshot().lambda.coldStarts).toBe(2);
});

test('an INIT that fails fails the invocation, and is tried again by the next', async () => {
  const emulator = await start((environment) => {
    if (environment.coldStart === 1) throw new Error('INIT failed');
    return {};
  });
  const client = await Client.open(emulator.url);
  emulator.retireIdleEnvironments();
  client.send('hello');
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
  client.send('hello');
  expect(await client.next()).toBe('hello');
});

test('variables hold the Region, the credentials of this environment, and those of the function', async () => {
  const seen: Environment[] = [];
  const emulator = await start(
    (environment) => {
      seen.push(environment);
      return {};
    },
    { region: 'eu-west-3', lambda: { variables: { TABLE: 'apus' }, memoryMegabytes: 256 } },
  );
  await Client.open(emulator.url);
  emulator.retireIdleEnvironments();
  await Client.open(emulator.url);
  expect(seen[0]?.variables).toMatchObject({
    AWS_REGION: 'eu-west-3',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    TABLE: 'apus',
    AWS_ACCESS_KEY_ID: expect.stringMatching(/^ASIA[A-Z2-7]{16}$/),
    AWS_SECRET_ACCESS_KEY: expect.stringMatching(/^.{40}$/),
    AWS_SESSION_TOKEN: expect.any(String),
  });
  expect(seen[1]?.variables.AWS_ACCESS_KEY_ID).not.toBe(seen[0]?.variables.AWS_ACCESS_KEY_ID);
});

test("the context is Lambda's, and its time runs out by the emulator's clock", async () => {
  const context = deferred<LambdaContext>();
  const emulator = await start(
    {
      default(_event, received) {
        context.resolve(received);
        return new Promise(() => {});
      },
    },
    { lambda: { functionName: 'door', timeoutMs: 3_000 } },
  );
  const client = await Client.open(emulator.url);
  client.send('hello');
  const received = await context.promise;
  expect(received).toMatchObject({
    awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    functionName: 'door',
    functionVersion: '$LATEST',
    memoryLimitInMB: '512',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:123456789012:function:door',
  });
  expect(received.getRemainingTimeInMillis()).toBe(3_000);
  await emulator.clock.advance(1_200);
  expect(received.getRemainingTimeInMillis()).toBe(1_800);
  await emulator.clock.advance(5_000);
  expect(received.getRemainingTimeInMillis()).toBe(0);
});

test('a post that was not awaited does not leave before the next invocation of its environment', async () => {
  let posted = false;
  const emulator = await start((environment) => {
    const management = managementClient(environment);
    return {
      async default(event) {
        if (event.body !== 'post') return { ...ok, body: 'awake' };
        const { connectionId: ConnectionId } = event.requestContext;
        management.send(new PostToConnectionCommand({ ConnectionId, Data: 'forgotten' })).then(
          () => {
            posted = true;
          },
          () => {}, // The emulator stops before the environment runs again.
        );
        return { ...ok, body: 'returned' };
      },
    };
  });
  const client = await Client.open(emulator.url);
  client.send('post');
  expect(await client.next()).toBe('returned');
  await eventually(() => emulator.counters.snapshot().events.requestsWhileFrozen === 1);
  await emulator.clock.advance(60_000);
  expect(client.received).toEqual([]);
  expect(posted).toBe(false);
  client.send('wake');
  expect((await client.nextMessages(2)).toSorted()).toEqual(['awake', 'forgotten']);
});

test('the timers of an environment stand still while it is frozen', async () => {
  const fired: string[] = [];
  const emulator = await start((environment) => ({
    async default(event) {
      environment.clock.setTimer(100, () => fired.push(event.body));
      return { ...ok, body: event.body };
    },
  }));
  const client = await Client.open(emulator.url);
  client.send('first');
  await client.next();
  await emulator.quiet();
  await emulator.clock.advance(10_000);
  expect(fired).toEqual([]);
  client.send('second');
  await client.next();
  expect(fired).toEqual(['first']);
});

test('a checkpoint holds a frozen environment, and never lets a dead one go on', async () => {
  const passed: string[] = [];
  const dead: Environment[] = [];
  const emulator = await start((environment) => ({
    async default(event) {
      if (event.body === 'forget')
        void setImmediatePromise()
          .then(() => environment.checkpoint('put'))
          .then(() => passed.push('forgotten'));
      if (event.body === 'hang') {
        dead.push(environment);
        await new Promise(() => {});
      }
      await environment.checkpoint('put');
      return { ...ok, body: event.body };
    },
  }));
  const client = await Client.open(emulator.url);
  client.send('forget');
  await client.next();
  await emulator.clock.advance(1_000);
  expect(passed).toEqual([]);
  client.send('wake');
  await client.next();
  expect(passed).toEqual(['forgotten']);
  client.send('hang');
  await eventually(() => dead.length === 1);
  await emulator.clock.advance(5_000);
  await client.next();
  expect(dead[0]?.signal.aborted).toBe(true);
  void dead[0]?.checkpoint('put').then(() => passed.push('risen'));
  await emulator.clock.advance(60_000);
  expect(passed).toEqual(['forgotten']);
});

test('a call of a timed out environment is never handled', async () => {
  const management = deferred<Environment>();
  const emulator = await start((environment) => ({
    default() {
      management.resolve(environment);
      return new Promise(() => {});
    },
  }));
  const client = await Client.open(emulator.url);
  client.send('hello');
  const environment = await management.promise;
  await emulator.clock.advance(5_000);
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  managementClient(environment)
    .send(new PostToConnectionCommand({ ConnectionId, Data: 'from the dead' }))
    .catch(() => {});
  await eventually(() => emulator.counters.snapshot().events.requestsOfDeadEnvironments === 1);
  await emulator.clock.advance(60_000);
  expect(client.received).toEqual([]);
});

test('requests beyond heldRequestsMax are cut', async () => {
  const emulator = await start(
    (environment) => ({
      async default(event) {
        const { connectionId: ConnectionId } = event.requestContext;
        for (const Data of ['1', '2', '3']) {
          managementClient(environment)
            .send(new PostToConnectionCommand({ ConnectionId, Data }))
            .catch(() => {});
        }
        return ok;
      },
    }),
    { limits: { heldRequestsMax: 2 } },
  );
  const client = await Client.open(emulator.url);
  client.send('hello');
  await eventually(() => emulator.counters.snapshot().events.heldRequestsMax === 1);
});

test('invocations beyond the concurrency of the account fail', async () => {
  const started = deferred();
  const emulator = await start(
    {
      default() {
        started.resolve();
        return new Promise(() => {});
      },
    },
    { limits: { concurrentExecutionsMax: 1 } },
  );
  const client = await Client.open(emulator.url);
  client.send('first');
  await started.promise;
  client.send('second');
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
  expect(emulator.counters.snapshot().events).toMatchObject({ lambdaThrottled: 1 });
});

test('with random reuse, every idle environment serves some time', async () => {
  const emulator = await start(
    (environment) => ({ default: async () => ({ ...ok, body: environment.id }) }),
    { lambda: { reuse: 'random' } },
  );
  const client = await Client.open(emulator.url);
  for (let message = 0; message < 10; message++) client.send('warm');
  const warm = new Set(await client.nextMessages(10));
  const served = new Set<string>();
  while (served.size < warm.size) {
    client.send('hello');
    served.add(await client.next());
  }
});

test('events and results are copies: nothing is shared between invocations', async () => {
  const events: object[] = [];
  const shared = { ...ok, body: 'same' };
  const emulator = await start({
    async connect(event) {
      Object.assign(event.requestContext.identity, { sourceIp: 'changed' });
      return ok;
    },
    async default(event) {
      events.push(event);
      return shared;
    },
  });
  const client = await Client.open(emulator.url);
  client.send('hello');
  await client.next();
  expect(events[0]).toMatchObject({ requestContext: { identity: { sourceIp: '127.0.0.1' } } });
});

const setImmediatePromise = () => new Promise((resolve) => setImmediate(resolve));
