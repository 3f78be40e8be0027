import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { functionSender } from '../../src/fan-out/invoke-function.ts';

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:may-connect:live';
const credentials = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
const nowMs = Date.parse('2026-01-01T00:00:00Z');
const REQUEST = {
  method: 'POST',
  url: 'https://unused.example/',
  headers: {},
  body: '{"clientid":"c"}',
} as const;
const signal = new AbortController().signal;

function stage(answer: Response) {
  const calls: { url: string; init: RequestInit }[] = [];
  const sender = functionSender({
    functionArn: ARN,
    credentials,
    answerBytesMax: 100,
    now: () => nowMs,
    async fetch(url, init = {}) {
      calls.push({ url: String(url), init });
      return answer;
    },
  });
  return { calls, send: () => sender.send(REQUEST, signal) };
}

describe('a hook that is a Lambda function', () => {
  test('is invoked with the body, and answers with what it returns', async () => {
    const { calls, send } = stage(new Response('{"result":"allow"}'));
    expect(await send()).toEqual({
      status: 200,
      contentType: 'application/json',
      body: '{"result":"allow"}',
    });
    const encoded = encodeURIComponent(ARN);
    expect(calls[0]?.url).toBe(
      `https://lambda.eu-west-1.amazonaws.com/2015-03-31/functions/${encoded}/invocations`,
    );
    expect(calls[0]?.init).toMatchObject({ method: 'POST', body: REQUEST.body, redirect: 'error' });
  });

  test("is invoked with the signature that AWS's own signer makes", async () => {
    const { calls, send } = stage(new Response('{}'));
    await send();
    const { config } = new DynamoDBClient({ region: 'eu-west-1', credentials });
    const signer = await config.signer();
    const { host, hostname, pathname } = new URL(calls[0]?.url ?? '');
    const expected = await signer.sign(
      {
        method: 'POST',
        protocol: 'https:',
        hostname,
        path: pathname,
        query: {},
        headers: { host },
        body: REQUEST.body,
      },
      {
        signingService: 'lambda',
        signingDate: new Date(nowMs),
        unsignableHeaders: new Set(['x-amz-content-sha256']),
      },
    );
    const headers = calls[0]?.init.headers as Record<string, string>;
    expect(headers['x-amz-security-token']).toBe('token');
    expect(headers.authorization).toBe(expected.headers.authorization);
  });

  test('is not believed when it fails, or when Lambda does not invoke it', async () => {
    const failed = new Response('{"errorMessage":"boom"}', {
      headers: { 'X-Amz-Function-Error': 'Unhandled' },
    });
    await expect(stage(failed).send()).rejects.toThrow('the function failed (Unhandled)');
    const denied = new Response('{"Message":"not authorized"}', { status: 403 });
    await expect(stage(denied).send()).rejects.toThrow('Lambda answered 403');
  });

  test('may not answer more than the size limit', async () => {
    await expect(stage(new Response('x'.repeat(101))).send()).rejects.toThrow('longer than 100 bytes');
  });

  test.each(['may-connect', 'arn:aws:s3:::bucket', `${ARN}/../other`])(
    'is named by its ARN, and not by %j',
    (functionArn) => {
      const options = { functionArn, credentials, answerBytesMax: 1, now: () => 0 };
      expect(() => functionSender(options)).toThrow('expected the ARN of a Lambda function');
    },
  );
});
