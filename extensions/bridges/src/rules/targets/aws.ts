import { type Message, messageBytes } from '@apus/broker';
import type { AwsPlace } from '../configuration/aws.ts';
import type { Failure } from '../target.ts';

/** Most entries in one call of SQS and EventBridge. */
export const ENTRIES_MAX = 10;
/** Most bytes in a call of SQS or EventBridge, and in an asynchronous call of Lambda: the lowest of the three. */
export const CALL_BYTES_MAX = 256 * 1024;

/** Errors that another attempt would meet too. */
const PERMANENT =
  /^(AccessDenied|InvalidParameter|Validation|UnsupportedOperation|RequestTooLarge|BatchRequestTooLong)/;

export function clientOptions({ region, endpoint }: AwsPlace) {
  return {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    // The SDK does not retry, since the rule does.
    maxAttempts: 1,
  };
}

/** Makes a call, and returns its failure if it throws. */
export async function calling(
  batch: readonly Message[],
  call: () => Promise<Failure | undefined>,
): Promise<Failure | undefined> {
  const large = batch.filter((message) => messageBytes(message) > CALL_BYTES_MAX);
  if (large.length > 0)
    return { messages: batch, error: `a message has more than ${CALL_BYTES_MAX} bytes`, isPermanent: true };
  try {
    return await call();
  } catch (error) {
    const { name, message } = error as Error;
    return { messages: batch, error: `${name}: ${message}`, isPermanent: PERMANENT.test(name) };
  }
}

/** The entries of a batch that the service has refused, by their place in it. */
export interface Refused {
  readonly index: number;
  readonly error: string;
  readonly isPermanent: boolean;
}

export function partialFailure(batch: readonly Message[], refused: readonly Refused[]): Failure | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  const messages = batch.filter((_, index) => refused.some((each) => each.index === index));
  return { messages, error: first.error, isPermanent: refused.every(({ isPermanent }) => isPermanent) };
}
