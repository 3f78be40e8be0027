import { createHash } from 'node:crypto';
import { deployed } from './deployed.ts';

/** The key of operators in this test; the stack has its hash. */
const API_KEY = 'the-key-of-operators-of-the-end-to-end-test';

export const API_KEY_SHA256 = createHash('sha256').update(API_KEY).digest('hex');

/** Calls the HTTP API of the deployment. @param path below `/api/v5/` */
export async function callApi(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  key = API_KEY,
): Promise<{ readonly status: number; readonly text: string; readonly body: Record<string, unknown> }> {
  const response = await fetch(new URL(`api/v5/${path}`, deployed.apiUrl), {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return { status: response.status, text, body: isJson ? JSON.parse(text) : {} };
}
