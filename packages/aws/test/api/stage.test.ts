import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { stageReader } from '../../src/api/stage.ts';

const NOW_MS = Date.parse('2026-11-27T12:00:00Z');
const credentials = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };

/** As the reference of API Gateway's version 2 has it (`GET /v2/apis/{apiId}/stages/{stageName}`). */
const STAGE = {
  apiGatewayManaged: false,
  autoDeploy: true,
  createdDate: '2026-11-01T08:00:00Z',
  defaultRouteSettings: {
    dataTraceEnabled: false,
    detailedMetricsEnabled: false,
    throttlingBurstLimit: 1,
    throttlingRateLimit: 1.0,
  },
  deploymentId: 'd1',
  lastUpdatedDate: '2026-11-27T11:50:00Z',
  routeSettings: {},
  stageName: 'mqtt',
  stageVariables: {},
  tags: {},
};

function readerOf(response: Response) {
  const calls: { readonly url: string; readonly init: RequestInit }[] = [];
  const read = stageReader({
    ...{ apiId: 'a1b2c3', stageName: 'mqtt', region: 'eu-west-1', credentials },
    now: () => NOW_MS,
    async fetch(url, init = {}) {
      calls.push({ url: String(url), init });
      return response;
    },
  });
  return { calls, read };
}

describe('the stage of a deployment', () => {
  it('is read as API Gateway answers it', async () => {
    const { calls, read } = readerOf(new Response(JSON.stringify(STAGE)));
    expect(await read()).toEqual({ framesPerSecond: 1, updatedAtMs: Date.parse('2026-11-27T11:50:00Z') });
    expect(calls[0]?.url).toBe('https://apigateway.eu-west-1.amazonaws.com/v2/apis/a1b2c3/stages/mqtt');
    expect(calls[0]?.init).toMatchObject({ method: 'GET', redirect: 'error' });
  });

  it("is asked for with the signature that AWS's own signer makes", async () => {
    const { calls, read } = readerOf(new Response(JSON.stringify(STAGE)));
    await read();
    const signer = await new DynamoDBClient({ region: 'eu-west-1', credentials }).config.signer();
    const { host, hostname, pathname } = new URL(calls[0]?.url ?? '');
    const expected = await signer.sign(
      { method: 'GET', protocol: 'https:', hostname, path: pathname, query: {}, headers: { host }, body: '' },
      {
        signingService: 'apigateway',
        signingDate: new Date(NOW_MS),
        unsignableHeaders: new Set(['x-amz-content-sha256']),
      },
    );
    const headers = calls[0]?.init.headers as Record<string, string>;
    expect(headers.authorization).toBe(expected.headers.authorization);
    expect(headers['x-amz-security-token']).toBe('token');
  });

  it('may have no throttle and no date', async () => {
    const { read } = readerOf(new Response('{"stageName":"mqtt"}'));
    expect(await read()).toEqual({ framesPerSecond: undefined, updatedAtMs: undefined });
  });

  it('is unknown if API Gateway refuses, or answers without end', async () => {
    const refused = new Response('{"message":"Too Many Requests"}', { status: 429 });
    await expect(readerOf(refused).read()).rejects.toThrow('API Gateway answered 429: {"message"');
    await expect(readerOf(new Response('x'.repeat(100_000))).read()).rejects.toThrow('longer than 65536');
  });
});
