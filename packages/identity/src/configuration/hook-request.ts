import { ConfigurationError } from '../configuration-error.ts';
import { fetchSender } from '../hook/fetch-sender.ts';
import { HookClient } from '../hook/hook-client.ts';
import { DEFAULT_HOOK_LIMITS } from '../hook/limits.ts';
import { type BodyOptions, type RequestOptions, RequestTemplate } from '../hook/request-template.ts';
import { systemTimers } from '../hook/system-timers.ts';
import type { Fields } from './fields.ts';
import type { HookContext } from './kind.ts';

/** The request to a hook, as a configuration describes it. */
export interface HookRequestConfiguration {
  readonly template: RequestTemplate;
  /** A Lambda function instead of a server. */
  readonly functionArn: string | undefined;
  /** Passwords would cross a network unencrypted. */
  readonly isPlain: boolean;
  readonly timeoutMs: number;
}

export const HOOK_REQUEST_FIELDS = [
  'method',
  'url',
  'headers',
  'body',
  'functionArn',
  'timeoutSeconds',
] as const;

const METHODS = ['get', 'post'] as const;

/** Stands for a function in a request: a function has no address. */
const FUNCTION_URL = 'https://lambda.invalid/';

/** Objects within objects in a body. */
const BODY_DEPTH_MAX = 5;

/**
 * @param known the existing placeholders
 * @throws {ConfigurationError}
 */
export function readHookRequest(fields: Fields, known: readonly string[]): HookRequestConfiguration {
  const [target, ...others] = fields.given('url', 'functionArn');
  if (target === undefined || others.length > 0)
    throw new ConfigurationError(`${fields.where} has to have either url or functionArn.`);
  const functionArn = fields.text('functionArn');
  const url = fields.text('url') ?? FUNCTION_URL;
  const options =
    functionArn === undefined ? serverOptions(fields, url) : functionOptions(fields, url, known);
  return {
    template: new RequestTemplate(options, known, fields.where),
    functionArn,
    isPlain: /^http:/i.test(url) && !/^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/i.test(url),
    timeoutMs: timeoutOf(fields),
  };
}

/**
 * Makes the object that asks the hook.
 * @throws {ConfigurationError} if this process cannot
 */
export function createHookClient(
  { functionArn, isPlain, timeoutMs }: HookRequestConfiguration,
  context: HookContext,
  name: string,
): HookClient {
  const { log, fetch, functionSender, hookTimeoutMsMax = timeoutMs, remainingMs } = context;
  const limits = { ...DEFAULT_HOOK_LIMITS, timeoutMs: Math.min(timeoutMs, hookTimeoutMsMax) };
  if (isPlain) log.warn('hook-not-encrypted', { hook: name });
  const sender =
    functionArn === undefined
      ? fetchSender(limits.answerBytesMax, fetch)
      : functionSender?.(functionArn, limits.answerBytesMax);
  if (sender === undefined)
    throw new ConfigurationError(`"functionArn" of the hook ${name} is for deployments in AWS.`);
  const timers = context.timers ?? systemTimers;
  return new HookClient({ name, sender, limits, timers, log, ...(remainingMs && { remainingMs }) });
}

function serverOptions(fields: Fields, url: string): RequestOptions {
  const method = fields.oneOf('method', METHODS) ?? 'post';
  return { method, url, headers: headersIn(fields), body: bodyIn(fields) };
}

function functionOptions(fields: Fields, url: string, known: readonly string[]): RequestOptions {
  const [given] = fields.given('method', 'headers');
  if (given !== undefined) return fields.fail(given, 'is for a url: a function gets the body alone.');
  const everything = Object.fromEntries(known.map((name) => [name, `\${${name}}`]));
  return { method: 'post', url, body: fields.raw('body') === undefined ? everything : bodyIn(fields) };
}

function headersIn(fields: Fields): Readonly<Record<string, string>> {
  const headers = fields.raw('headers') ?? {};
  const isObject = typeof headers === 'object' && headers !== null && !Array.isArray(headers);
  if (isObject && Object.values(headers).every((value) => typeof value === 'string'))
    return headers as Readonly<Record<string, string>>;
  return fields.fail('headers', 'has to be an object of texts.');
}

function bodyIn(fields: Fields): BodyOptions {
  const body = fields.raw('body') ?? {};
  if (isBody(body, BODY_DEPTH_MAX)) return body;
  return fields.fail(
    'body',
    `has to be an object of texts, numbers, true and false, and of ${BODY_DEPTH_MAX} levels at most.`,
  );
}

function isBody(value: unknown, depth: number): value is BodyOptions {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return false;
  return Object.values(value).every(
    (each) => ['string', 'number', 'boolean'].includes(typeof each) || isBody(each, depth - 1),
  );
}

function timeoutOf(fields: Fields): number {
  const seconds = fields.raw('timeoutSeconds');
  if (seconds === undefined) return DEFAULT_HOOK_LIMITS.timeoutMs;
  if (typeof seconds === 'number' && seconds >= 0.1 && seconds <= 30) return seconds * 1_000;
  return fields.fail('timeoutSeconds', 'has to be a number from 0.1 to 30.');
}
