import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** The schema of a command, as the SDK's protocol takes it. */
interface Operation {
  readonly namespace: string;
  readonly name: string;
  readonly traits: unknown;
  readonly input: unknown;
  readonly output: unknown;
}

interface RawResponse {
  readonly statusCode: number;
}

/** The SDK's protocol (AWS JSON), with the part of a client's configuration that it reads. */
interface Protocol {
  serializeRequest(
    operation: Operation,
    input: unknown,
    context: { endpoint(): Promise<unknown> },
  ): Promise<unknown>;
  deserializeResponse(
    operation: Operation,
    context: { readonly streamCollector: unknown },
    response: RawResponse,
  ): Promise<never>;
}

/** The SDK makes a context for each command. */
interface Context {
  readonly endpointV2?: unknown;
  readonly __smithy_context?: { readonly operationSchema?: readonly unknown[] };
}

/**
 * Makes a client write requests and read answers by the SDK's protocol alone. The SDK hands the protocol a copy of the
 * client's whole configuration, of some ninety fields, for each request and again for each answer: the copies took a
 * third of the time of a small call, but for the network.
 */
export function serializeLeanly({ middlewareStack, config }: DynamoDBClient): void {
  const protocol = config.protocol as unknown as Protocol;
  const { streamCollector } = config;
  middlewareStack.add(
    (next, context) => async (args) => {
      const { endpointV2 } = context as Context;
      const endpoint = async () => endpointV2;
      const request = await protocol.serializeRequest(operationOf(context), args.input, { endpoint });
      return await next({ ...args, request });
    },
    { name: 'serializerMiddleware', step: 'serialize', override: true },
  );
  middlewareStack.add(
    (next, context) => async (args) => {
      const { response } = await next(args);
      const operation = operationOf(context);
      try {
        const output = await protocol.deserializeResponse(
          operation,
          { streamCollector },
          response as RawResponse,
        );
        return { response, output };
      } catch (error) {
        throw withStatus(error, response as RawResponse);
      }
    },
    { name: 'deserializerMiddleware', step: 'deserialize', override: true },
  );
}

function operationOf(context: object): Operation {
  const { __smithy_context: { operationSchema } = {} } = context as Context;
  if (operationSchema === undefined) throw new Error('expected a command of the SDK that has a schema');
  const [, namespace, name, traits, input, output] = operationSchema;
  return { namespace: String(namespace), name: String(name), traits, input, output };
}

/** An answer that is not JSON, as from a proxy, is tried again or not by its status. */
function withStatus(error: unknown, { statusCode }: RawResponse): unknown {
  if (error instanceof Error && !('$metadata' in error))
    Object.assign(error, { $metadata: { httpStatusCode: statusCode } });
  return error;
}
