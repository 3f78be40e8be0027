import type { LambdaConfiguration } from '../configuration/aws.ts';
import type { Target } from '../target.ts';
import { CALL_BYTES_MAX, calling, clientOptions } from './aws.ts';
import { messageJson } from './message-json.ts';

const MESSAGES_MAX = 100;

/** A function, called asynchronously: Lambda has the event in its own queue when it answers, and calls again by itself. */
export async function openLambda(configuration: LambdaConfiguration): Promise<Target> {
  const { LambdaClient, InvokeCommand } = await import('@aws-sdk/client-lambda');
  const client = new LambdaClient(clientOptions(configuration));
  return {
    type: 'lambda',
    remote: configuration.function,
    batch: { messagesMax: MESSAGES_MAX, bytesMax: CALL_BYTES_MAX / 2, isPartial: false },
    send: (batch) =>
      calling(batch, async () => {
        const Payload = JSON.stringify({ messages: batch.map(messageJson) });
        const command = { FunctionName: configuration.function, InvocationType: 'Event', Payload } as const;
        const { StatusCode = 0 } = await client.send(new InvokeCommand(command));
        if (StatusCode === 202) return undefined;
        return { messages: batch, error: `answered ${StatusCode}`, isPermanent: false };
      }),
    stop: async () => client.destroy(),
  };
}
