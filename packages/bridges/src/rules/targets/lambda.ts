import type { Message } from '@apus/broker';
import type { LambdaConfiguration } from '../configuration/aws.ts';
import type { Failure, Target } from '../target.ts';
import { CALL_BYTES_MAX, calling, clientOptions } from './aws.ts';
import { messageJson } from './message-json.ts';

const MESSAGES_MAX = 100;
const ERROR_LENGTH_MAX = 200;

/**
 * A function. Called asynchronously, Lambda has the event in its own queue when it answers, and calls again by itself. One
 * that is waited for has the messages when it returns, and not when it fails.
 */
export async function openLambda(configuration: LambdaConfiguration): Promise<Target> {
  const { LambdaClient, InvokeCommand } = await import('@aws-sdk/client-lambda');
  const client = new LambdaClient(clientOptions(configuration));
  const { function: FunctionName, invocationType: InvocationType, timeoutSeconds } = configuration;
  const stopped = new AbortController();
  /** AWS ends an asynchronous call within a moment by itself. */
  const abortSignal =
    InvocationType === 'Event'
      ? () => stopped.signal
      : () => AbortSignal.any([stopped.signal, AbortSignal.timeout(timeoutSeconds * 1_000)]);
  return {
    type: 'lambda',
    remote: FunctionName,
    batch: { messagesMax: MESSAGES_MAX, bytesMax: CALL_BYTES_MAX / 2, isPartial: false },
    send: (batch) =>
      calling(batch, async () => {
        const Payload = JSON.stringify({ messages: batch.map(messageJson) });
        const command = new InvokeCommand({ FunctionName, InvocationType, Payload });
        return failureOf(batch, await client.send(command, { abortSignal: abortSignal() }));
      }),
    stop: async () => {
      stopped.abort();
      client.destroy();
    },
  };
}

interface Answer {
  readonly StatusCode?: number | undefined;
  readonly FunctionError?: string | undefined;
  readonly Payload?: Uint8Array | undefined;
}

function failureOf(messages: readonly Message[], answer: Answer): Failure | undefined {
  const { StatusCode = 0, FunctionError, Payload } = answer;
  if (StatusCode < 200 || StatusCode > 299)
    return { messages, error: `answered ${StatusCode}`, isPermanent: false };
  if (FunctionError === undefined) return undefined;
  // Lambda says of an exception, of a time that is over, and of a process that has died, that the function has failed.
  const said = Buffer.from(Payload ?? [])
    .toString()
    .slice(0, ERROR_LENGTH_MAX);
  return { messages, error: `the function has failed: ${FunctionError} ${said}`, isPermanent: false };
}
