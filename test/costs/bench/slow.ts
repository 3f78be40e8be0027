import { DEFAULT_SERVICE_TIMES } from '@apus/simulation';

/** A flag of the services' process: they answer as late as services of AWS are assumed to. */
export const SLOW = '--slow';

const { dynamoCall, post, sqsSend } = DEFAULT_SERVICE_TIMES;

/** Milliseconds until a request is answered, by the target that its header names; a post to a connection has none. */
export function latencyMs(target: string): number {
  if (target.startsWith('DynamoDB')) return dynamoCall.p50Ms;
  return target.startsWith('AmazonSQS') ? sqsSend.p50Ms : post.p50Ms;
}
