import type { Message } from '@apus/broker';
import { installed } from '@apus/door';
import type { LambdaConfiguration } from '../configuration/aws.ts';
import type { Failure, Target } from '../target.ts';
import { CALL_BYTES_MAX, calling, clientOptions } from './aws.ts';
import { messageJson } from './message-json.ts';

const MESSAGES_MAX = 100;
const ERROR_LENGTH_MAX = 200;

/**
 * Calls a function. If the call is asynchronous, Lambda has queued the event when it answers, and retries by itself. If
 * the rule waits for the function, the function has the messages when it returns, and does not have them when it fails.
 */
export async function openLambda(configuration: LambdaConfiguration): Promise<Target> {
  const { LambdaClient, InvokeCommand } = await installed(import('@aws-sdk/client-lambda'));
  const client = new LambdaClient(clientOptions(configuration));
  const { function: FunctionName, invocationType: InvocationType, timeoutSeconds } = configuration;
  const stopped = new AbortController();
  /** AWS itself answers an asynchronous call within a moment. */
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
  // Lambda reports in this way that the function has thrown, has timed out, or that its process has died.
  const said = Buffer.from(Payload ?? [])
    .toString()
    .slice(0, ERROR_LENGTH_MAX);
  return { messages, error: `the function has failed: ${FunctionError} ${said}`, isPermanent: false };
}
