import type { ManagementCall } from '../faults.ts';
import type { ExecutionEnvironment } from '../lambda/execution-environment.ts';
import type { ManagementBody } from './body.ts';
import { forbidden, type ManagementError, notAllowed } from './error.ts';

/** Reads the call of a request: `POST`, `GET` or `DELETE` on `/stage/@connections/id`. */
export function readCall(
  request: { readonly method: string; readonly target: string },
  stage: string,
  body: ManagementBody,
  environment: ExecutionEnvironment | undefined,
): ManagementCall | ManagementError {
  const { method, target } = request;
  const connectionId = connectionIdOf(target, stage);
  if (connectionId === undefined) return forbidden;
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return notAllowed;
  return {
    method,
    connectionId,
    ...(environment && { environmentId: environment.id }),
    // Bytes that are not UTF-8 become U+FFFD: a WebSocket API carries text only.
    ...(method === 'POST' && body.bytes && { body: body.bytes.toString('utf8') }),
  };
}

function connectionIdOf(target: string, stage: string): string | undefined {
  const [path = ''] = target.split('?', 1);
  const [, first, second, id, ...rest] = path.split('/');
  if (first !== stage || rest.length > 0) return undefined;
  return decode(second) === '@connections' ? decode(id) : undefined;
}

function decode(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
