import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

type Send = (command: { readonly input: object }, ...rest: unknown[]) => Promise<unknown>;

/**
 * Returns a client that runs code around each call of another, as a separate process would. Constructing an SDK client
 * with its middleware takes as long as a dozen calls in memory.
 */
export function aroundCalls(
  client: DynamoDBClient,
  around: (operation: string, input: object, call: () => Promise<unknown>) => Promise<unknown>,
): DynamoDBClient {
  const send = client.send.bind(client) as Send;
  const sendAround: Send = (command, ...rest) =>
    around(operationOf(command), command.input, () => send(command, ...rest));
  return Object.assign(Object.create(client) as DynamoDBClient, { send: sendAround });
}

/** `UpdateItem` of an `UpdateItemCommand`. */
function operationOf(command: object): string {
  return command.constructor.name.replace('Command', '');
}
