import { expect, it } from 'vitest';
import { callApi } from '../support/api.ts';
import { until } from '../support/aws.ts';
import { connectClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';

interface Letter {
  readonly id: string;
  readonly topic: string;
}

it('refuses a request without the key', async () => {
  expect(await callApi('GET', 'rules', 'another-key-of-many-characters')).toMatchObject({ status: 401 });
});

it('lists the subscriptions of a client, and every topic filter once', async () => {
  const filter = `${unique('listed')}/+`;
  const clients = [await connectClient(), await connectClient()];
  for (const { mqtt } of clients) await mqtt.subscribeAsync(filter, { qos: 1 });
  const { body } = await callApi('GET', `subscriptions?limit=1000&topic=${encodeURIComponent(filter)}`);
  expect(body.data).toHaveLength(2);
  const topics = (await callApi('GET', 'topics?limit=1000')).body.data as readonly { topic: string }[];
  expect(topics.filter(({ topic }) => topic === filter)).toHaveLength(1);
});

it('asks the function of rules for dead letters, and has it send and delete them', async () => {
  const topic = `e2e/call/${unique('api')}`;
  const publisher = await connectClient();
  await publisher.mqtt.publishAsync(topic, 'x', { qos: 1 });
  const path = 'rules/call/dead_letters';
  const { body } = await until(
    () => callApi('GET', path),
    (answer) => answer.text.includes(topic),
  );
  const { id } = (body.data as readonly Letter[]).find((each) => each.topic === topic) as Letter;
  expect(await callApi('GET', `${path}/${id}`)).toMatchObject({ body: { topic, payload: 'eA==' } });
  expect(await callApi('POST', `${path}/${id}/send`)).toMatchObject({
    status: 502,
    body: { code: 'NOT_SENT' },
  });
  expect(await callApi('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 });
  expect(await callApi('GET', `${path}/${id}`)).toMatchObject({ status: 404 });
  expect((await callApi('GET', 'rules')).body.data).toMatchObject([{ name: 'copy' }, { name: 'call' }]);
});

it('reads the metrics of CloudWatch, and lists the described topics with its own address', async () => {
  const [metrics] = (await callApi('GET', 'metrics')).body as unknown as readonly Record<string, unknown>[];
  expect(metrics?.['messages.received']).toBeGreaterThanOrEqual(0);
  expect((await callApi('GET', 'prometheus/stats')).text).toContain('# TYPE emqx_messages_received counter');
  const { body } = await callApi('GET', 'asyncapi.json');
  const { host, pathname } = new URL(deployed.url);
  expect(body).toMatchObject({ asyncapi: '3.0.0', servers: { gateway: { host, pathname } } });
});

it('reports that the breaker is closed, lists quotas with their use, and no bridges', async () => {
  expect((await callApi('GET', 'breaker')).body).toMatchObject({
    ...{ state: 'closed', since: null, frames_per_second_max: 500, messages_per_minute_max: 100_000 },
  });
  await connectClient();
  const quotas = (await callApi('GET', 'quotas')).body.data as readonly Record<string, unknown>[];
  expect(quotas).toContainEqual({
    ...{ scope: 'tenant', name: 'connectionsMax', max: 900_000, used: expect.any(Number) },
  });
  expect((await callApi('GET', 'bridges')).body).toEqual({ data: [] });
});
