import type { ProxyResult } from '../gateway/events.ts';
import type { Outcome } from './invocation.ts';

/**
 * The function's result, if API Gateway can use it. A handler that forgets `statusCode`, or returns an object as its
 * body, fails in the cloud as "malformed Lambda proxy response": here too.
 */
export function readProxyResult(outcome: Outcome): ProxyResult | Error {
  if (outcome.kind === 'failed') return outcome.error;
  const { value } = outcome;
  if (!isObject(value)) return malformed('an object with statusCode', value);
  const { statusCode, body, headers, isBase64Encoded } = value;
  if (!isStatusCode(statusCode)) return malformed('statusCode to be an integer from 100 to 599', statusCode);
  if (body !== undefined && body !== null && typeof body !== 'string')
    return malformed('body to be text', body);
  if (headers !== undefined && headers !== null && !isObject(headers))
    return malformed('headers as an object', headers);
  // A WebSocket API sends text: nothing documents that it would decode a body.
  if (isBase64Encoded === true) return malformed('isBase64Encoded not to be true', isBase64Encoded);
  return {
    statusCode,
    ...(typeof body === 'string' && { body }),
    ...(isObject(headers) && { headers: simpleHeaders(headers) }),
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStatusCode(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;
}

function simpleHeaders(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function malformed(expected: string, found: unknown): Error {
  const excerpt = (JSON.stringify(found) ?? 'nothing').slice(0, 100);
  return new Error(`Malformed Lambda proxy response: expected ${expected}, got ${excerpt}`);
}
