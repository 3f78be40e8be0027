import type { CloudOptions } from '@apus/aws/lambda';

type Sender = CloudOptions['dynamo'];

/** The part of a write's input that is altered. */
export interface WriteInput {
  Key?: Record<string, { S?: string }>;
  Item?: Record<string, { S?: string }>;
  ConditionExpression?: string | undefined;
  UpdateExpression?: string | undefined;
  ExpressionAttributeValues?: Record<string, unknown> | undefined;
  ExpressionAttributeNames?: Record<string, unknown> | undefined;
}

/** The first part of an item's partition key tells its kind; the sort key identifies it within the kind. */
export function isWriteOf(input: WriteInput, partition: string, sort = ''): boolean {
  const key = input.Key ?? input.Item;
  const p = key?.p?.S ?? '';
  return p.startsWith(`${partition}\0`) && (key?.s?.S ?? '').startsWith(sort);
}

/** Changes conditional writes on their way to DynamoDB, those in transactions too. */
export function alteredWrites(change: (input: WriteInput) => string | undefined): (client: Sender) => Sender {
  return (client) => {
    const send = async (command: { input: object }, ...others: unknown[]) => {
      for (const input of writesIn(command.input)) alter(input, change);
      return await (client.send as (...all: unknown[]) => Promise<unknown>)(command, ...others);
    };
    return { send: send as Sender['send'] };
  };
}

function writesIn(input: object): WriteInput[] {
  if (!('TransactItems' in input)) return [input as WriteInput];
  const items = input.TransactItems as readonly Record<string, WriteInput>[];
  return items.flatMap((item) => Object.values(item));
}

function alter(input: WriteInput, change: (input: WriteInput) => string | undefined): void {
  if (input.ConditionExpression === undefined) return;
  const condition = change(input);
  if (condition === input.ConditionExpression) return;
  input.ConditionExpression = condition;
  dropUnused(input);
}

/** DynamoDB refuses names and values that no expression uses. */
function dropUnused(input: WriteInput): void {
  const text = `${input.ConditionExpression ?? ''} ${input.UpdateExpression ?? ''}`;
  const used = (all: Record<string, unknown> | undefined) => {
    const left = Object.entries(all ?? {}).filter(([name]) => new RegExp(`${name}\\b`).test(text));
    return left.length === 0 ? undefined : Object.fromEntries(left);
  };
  input.ExpressionAttributeValues = used(input.ExpressionAttributeValues);
  input.ExpressionAttributeNames = used(input.ExpressionAttributeNames);
}
