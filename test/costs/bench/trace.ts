import type { Handler } from '@apus/emulated-aws';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';

/** Lines of one operation. More mean a loop. */
const LINES_MAX = 100_000;

/** The kind of an item: the first part of its key, or of its sort key where several kinds share a partition. */
const KINDS: Readonly<Record<string, string>> = {
  C: 'connection',
  S: 'session',
  Z: 'record',
  M: 'memory of a shared copy',
  B: 'body',
  F: 'head',
  W: 'shard',
  G: 'share group',
  R: 'retained',
  H: 'shapes',
  N: 'number',
  Q: 'holdings',
  L: 'log of a stream',
  V: 'value',
  T: 'topic of a stream',
  O: 'room',
};

type Key = Readonly<Record<string, AttributeValue>>;

interface Capacity {
  readonly CapacityUnits?: number;
}

/** One call on DynamoDB, with the details that explain its bill. */
interface Call {
  readonly Key?: Key;
  readonly Item?: Key;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeValues?: Key;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Key[] } | readonly unknown[]>>;
  readonly TransactItems?: readonly Readonly<Record<string, Call>>[];
}

/**
 * Each invocation, each call on DynamoDB with its units and each request of SQS, in order: the operation's bill, and
 * its reasons.
 */
export class Trace {
  readonly #lines: string[] = [];

  take(): readonly string[] {
    return this.#lines.splice(0);
  }

  invocationOf<In, Out>(name: string, handler: Handler<In, Out>): Handler<In, Out> {
    return async (event, context) => {
      const route = (event as { requestContext?: { routeKey?: string } }).requestContext?.routeKey;
      this.#say(`invocation of ${route ?? name}`);
      return await handler(event, context);
    };
  }

  watchDynamo(client: DynamoDBClient): DynamoDBClient {
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          try {
            const result = await next(args);
            const { ConsumedCapacity } = result.output as {
              ConsumedCapacity?: Capacity | readonly Capacity[];
            };
            const units = [ConsumedCapacity ?? []]
              .flat()
              .reduce((sum, each) => sum + (each.CapacityUnits ?? 0), 0);
            this.#say(`  ${commandName.replace(/Command$/, '')} ${shownCall(args.input as Call)}: ${units}`);
            return result;
          } catch (error) {
            const { name } = error as Error;
            this.#say(`  ${commandName} ${shownCall(args.input as Call)}: ${name}`);
            throw error;
          }
        },
      { step: 'initialize' },
    );
    return client;
  }

  watchSqs(client: SQSClient): SQSClient {
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          this.#say(`  SQS ${commandName.replace(/Command$/, '')}`);
          return await next(args);
        },
      { step: 'initialize' },
    );
    return client;
  }

  #say(line: string): void {
    if (this.#lines.length < LINES_MAX) this.#lines.push(line);
  }
}

function shownCall(call: Call): string {
  if (call.TransactItems !== undefined)
    return call.TransactItems.flatMap((item) => Object.values(item).map(shownCall)).join(' + ');
  if (call.RequestItems !== undefined) return Object.values(call.RequestItems).flatMap(shownKeys).join(' + ');
  const key = call.Key ?? call.Item;
  if (key === undefined) return shownKey({ p: call.ExpressionAttributeValues?.[':p'] ?? { S: '' } });
  const { UpdateExpression: change, ConditionExpression: condition } = call;
  const shown = [shownKey(key), change, condition && `if ${condition}`];
  return shown.filter((part) => part !== undefined).join(', ');
}

function shownKeys(request: { readonly Keys?: readonly Key[] } | readonly unknown[]): string[] {
  if ('Keys' in request) return (request.Keys ?? []).map(shownKey);
  return (request as readonly Readonly<Record<string, Call>>[]).flatMap((each) =>
    Object.values(each).map(shownCall),
  );
}

function shownKey({ p, s }: Key): string {
  const [kind = ''] = p?.S?.split('\0') ?? [];
  const sort = s?.S ?? '';
  if (kind === 'I') return `of the session: ${sort.slice(0, 4)}`;
  return KINDS[kind] ?? `${kind} ${sort}`;
}
