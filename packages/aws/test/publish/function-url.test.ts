import { expect, it } from 'vitest';
import { type FunctionUrlEvent, requestOf, resultOf } from '../../src/publish/function-url.ts';

const EVENT: FunctionUrlEvent = {
  rawPath: '/api/v5/publish',
  headers: { 'content-type': 'application/json' },
  body: '{"topic": "ü"}',
  isBase64Encoded: false,
  requestContext: { http: { method: 'POST' } },
};

const textOf = (event: FunctionUrlEvent) => Buffer.from(requestOf(event).body).toString();

it('a body is read as Lambda hands it over: text as UTF-8, everything else in base64', () => {
  expect(textOf(EVENT)).toBe('{"topic": "ü"}');
  const body = Buffer.of(0xff, 0, 0x7b).toString('base64');
  expect([...requestOf({ ...EVENT, body, isBase64Encoded: true }).body]).toEqual([0xff, 0, 0x7b]);
  const { body: _, ...empty } = EVENT;
  expect([textOf(empty), textOf({ ...EVENT, body: null })]).toEqual(['', '']);
});

it('the signer is the caller, and a header names none', () => {
  expect(requestOf({ ...EVENT, headers: { caller: 'me' } }).caller).toBeUndefined();
  const userArn = 'arn:aws:sts::123456789012:assumed-role/backend/i-1';
  const signed = { ...EVENT.requestContext, authorizer: { iam: { userArn } } };
  expect(requestOf({ ...EVENT, requestContext: signed }).caller).toBe(userArn);
  const unsigned = { ...EVENT.requestContext, authorizer: { iam: null } };
  expect(requestOf({ ...EVENT, requestContext: unsigned }).caller).toBeUndefined();
});

it('an answer is what payload format 2.0 asks for', () => {
  expect(resultOf({ status: 429, headers: { 'retry-after': '1' }, body: '{}' })).toEqual({
    statusCode: 429,
    headers: { 'retry-after': '1' },
    body: '{}',
  });
});
