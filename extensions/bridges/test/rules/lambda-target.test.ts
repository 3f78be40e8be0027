import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberedMessage } from '@apus/broker/samples';
import { Fields } from '@apus/identity';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readLambda } from '../../src/rules/configuration/aws.ts';
import { openLambda } from '../../src/rules/targets/lambda.ts';

/** Lambda's Invoke call (https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html), with the test's answers. */
async function lambdaThat(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const types: unknown[] = [];
  const server = createServer((request, response) => {
    types.push(request.headers['x-amz-invocation-type']);
    request.resume().on('end', () => answer(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { types, endpoint: `http://127.0.0.1:${port}` };
}

const FIELDS = ['function', 'invocationType', 'timeoutSeconds', 'region', 'endpoint'];

async function targetOf(endpoint: string, more: object) {
  const given = { function: 'f', region: 'eu-west-1', endpoint, ...more };
  const target = await openLambda(readLambda(new Fields(given, 'to.lambda', FIELDS)));
  onTestFinished(() => target.stop());
  return target;
}

const MESSAGES = [numberedMessage(1), numberedMessage(2)];
const WAITED_FOR = { invocationType: 'RequestResponse' };

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  onTestFinished(() => void vi.unstubAllEnvs());
});

describe('a rule to a function', () => {
  it('has sent its messages when Lambda has queued the event, unless it is to wait for the function', async () => {
    const { types, endpoint } = await lambdaThat((_, response) => response.writeHead(202).end());
    expect(await (await targetOf(endpoint, {})).send(MESSAGES)).toBeUndefined();
    expect(types).toEqual(['Event']);
  });

  it('waits for the function if it is told to', async () => {
    const { types, endpoint } = await lambdaThat((_, response) => response.writeHead(200).end('null'));
    expect(await (await targetOf(endpoint, WAITED_FOR)).send(MESSAGES)).toBeUndefined();
    expect(types).toEqual(['RequestResponse']);
  });

  it('sends its messages again if the function fails, and reports the error', async () => {
    const { endpoint } = await lambdaThat((_, response) =>
      response
        .writeHead(200, { 'x-amz-function-error': 'Unhandled' })
        .end('{"errorMessage":"no such order","errorType":"Error"}'),
    );
    expect(await (await targetOf(endpoint, WAITED_FOR)).send(MESSAGES)).toEqual({
      messages: MESSAGES,
      error: 'the function has failed: Unhandled {"errorMessage":"no such order","errorType":"Error"}',
      isPermanent: false,
    });
  });

  it('waits no longer than timeoutSeconds', async () => {
    const { endpoint } = await lambdaThat(() => {});
    const target = await targetOf(endpoint, { ...WAITED_FOR, timeoutSeconds: 1 });
    expect(await target.send(MESSAGES)).toMatchObject({ messages: MESSAGES, isPermanent: false });
  });

  it('ends a pending call when it is stopped', async () => {
    let isCalled = false;
    const { endpoint } = await lambdaThat(() => {
      isCalled = true;
    });
    const target = await targetOf(endpoint, { ...WAITED_FOR, timeoutSeconds: 60 });
    const sending = target.send(MESSAGES);
    await expect.poll(() => isCalled).toBe(true);
    await target.stop();
    expect(await sending).toMatchObject({ isPermanent: false });
  });

  it.each([
    [{ invocationType: 'DryRun' }, 'invocationType'],
    [{ timeoutSeconds: 5 }, 'timeoutSeconds is for "invocationType": "RequestResponse"'],
    [{ ...WAITED_FOR, timeoutSeconds: 61 }, 'from 1 to 60'],
  ])('refuses %o', (more, message) => {
    const read = () => readLambda(new Fields({ function: 'f', ...more }, 'to.lambda', FIELDS));
    expect(read).toThrow(message);
  });
});
