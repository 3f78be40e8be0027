import type { RequestListener } from 'node:http';
import type { Log } from '@apus/broker';
import { refusal } from '@apus/door';
import { write } from './api/router.ts';
import { stackOf } from './log.ts';
import { problemOfHead } from './request-head.ts';

/** Refuses requests that are not HTTP. An exception ends this request alone. */
export function guarded(handler: RequestListener, log: Log): RequestListener {
  return (request, response) => {
    const problem = problemOfHead(request);
    if (problem !== undefined) return write(response, refusal('BAD_REQUEST', problem));
    try {
      handler(request, response);
    } catch (error) {
      log.error('request-failed', { path: request.url, error: stackOf(error) });
      if (response.headersSent) response.destroy();
      else write(response, refusal('INTERNAL_ERROR', 'This should not have happened: see the log.'));
    }
  };
}
