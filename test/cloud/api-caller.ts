import { createHash } from 'node:crypto';
import type { ApiFunction } from '@apus/aws/lambda';
import { type Answered, type Described, pathOf, type Trial } from '../api/document.ts';

export const KEY = 'a-key-of-the-operator-of-a-deployment';
export const OTHER_KEY = 'another-key-that-is-being-brought-in';
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
/** The keys that the stack has. */
export const KEYS = [hashOf(KEY), hashOf(OTHER_KEY)];

/** The caller, as the URL of the function knows it. */
export interface From {
  readonly sourceIp?: string;
  readonly signedBy?: string;
}

/** A request in the form of a function URL. */
export async function call(
  handler: ApiFunction,
  { method, path }: Pick<Described, 'method' | 'path'>,
  { path: values, query = '', body, headers = {} }: Omit<Trial, 'status'> = {},
  { sourceIp = '192.0.2.1', signedBy }: From = {},
): Promise<Answered> {
  const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const result = await handler(
    {
      rawPath: `/api/v5${pathOf(path, values)}`,
      rawQueryString: query.slice(1),
      headers: { authorization: `Bearer ${KEY}`, ...headers },
      body: sent ?? null,
      requestContext: {
        http: { method, sourceIp },
        ...(signedBy !== undefined && { authorizer: { iam: { userArn: signedBy } } }),
      },
    },
    { getRemainingTimeInMillis: () => 840_000 },
  );
  const text = result.body;
  const type = result.headers['content-type'] ?? '';
  const isJson = type === 'application/json' && text !== '';
  return { status: result.statusCode, type, text, body: isJson ? JSON.parse(text) : text };
}
