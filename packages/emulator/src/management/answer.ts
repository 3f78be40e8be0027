import type { ServerResponse } from 'node:http';
import { ManagementError } from './error.ts';

interface Success {
  readonly status: 200 | 204;
  readonly json?: unknown;
}

export type Answer = Success | ManagementError;

export function respond(response: ServerResponse, answer: Answer, requestId: string): void {
  response.statusCode = answer.status;
  response.setHeader('x-amzn-RequestId', requestId);
  if (answer instanceof ManagementError) response.setHeader('x-amzn-ErrorType', answer.type);
  const json = answer instanceof ManagementError ? { message: answer.message } : answer.json;
  if (json === undefined) {
    response.end();
  } else {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(json));
  }
}
