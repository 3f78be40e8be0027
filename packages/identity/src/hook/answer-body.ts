import { parseJson } from '@apus/broker';
import type { HookAnswer } from './hook-client.ts';

/**
 * The fields of an answer with status 200, JSON or a form. Undefined if there are none: EMQX then goes on as after
 * `ignore`.
 */
export function objectOf({
  status,
  contentType,
  body,
}: HookAnswer): Readonly<Record<string, unknown>> | undefined {
  if (status !== 200) return undefined;
  if (/^application\/json\b/i.test(contentType)) return parsed(body);
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType))
    return Object.fromEntries(new URLSearchParams(body));
  return undefined;
}

function parsed(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(json);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
