import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Reads that return many items. For others it would save nothing. */
const COMMANDS: ReadonlySet<string | undefined> = new Set([
  'QueryCommand',
  'BatchGetItemCommand',
  'ScanCommand',
]);

/** The body that the SDK gets instead. */
const EMPTY = new TextEncoder().encode('{}');

type Values = Record<string, AttributeValue>;

/** An answer as JSON. It equals the SDK's result except for bytes, which are base64. */
interface Answer {
  readonly Items?: Values[];
  readonly Responses?: Record<string, Values[]>;
  readonly UnprocessedKeys?: Record<string, { readonly Keys?: Values[] }>;
  readonly LastEvaluatedKey?: Values;
}

interface RawResponse {
  readonly statusCode: number;
  body: unknown;
}

/**
 * Makes a client read the answers of large reads as plain JSON. The SDK walks every attribute by its schema, which for
 * a shard of a thousand subscribers costs several times the parsing. The SDK still reads errors, and all other
 * answers.
 */
export function readPlainly(client: DynamoDBClient): void {
  const answers = new WeakMap<object, Answer>();
  const { middlewareStack, config } = client;
  middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const response = result.response as RawResponse;
        if (!COMMANDS.has(commandName) || response.statusCode !== 200) return result;
        const { body } = response;
        const bytes = body instanceof Uint8Array ? body : await config.streamCollector(body);
        answers.set(response, withBytes(JSON.parse(config.utf8Encoder(bytes)) as Answer));
        response.body = EMPTY;
        return result;
      },
    // Next to the transport: the SDK's own reader comes after it.
    { name: 'plainAnswerReader', step: 'deserialize', priority: 'low' },
  );
  middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const answer = answers.get(result.response as RawResponse);
      if (answer !== undefined && result.output !== undefined) Object.assign(result.output, answer);
      return result;
    },
    { name: 'plainAnswerGiver', step: 'deserialize', priority: 'high' },
  );
}

function withBytes(answer: Answer): Answer {
  const { Items = [], Responses = {}, UnprocessedKeys = {}, LastEvaluatedKey } = answer;
  for (const item of Items) decodeBytes(item);
  for (const items of Object.values(Responses)) for (const item of items) decodeBytes(item);
  for (const { Keys = [] } of Object.values(UnprocessedKeys)) for (const key of Keys) decodeBytes(key);
  if (LastEvaluatedKey !== undefined) decodeBytes(LastEvaluatedKey);
  return answer;
}

function decodeBytes(item: Values): void {
  for (const name in item) {
    const value = item[name];
    if (value === undefined || value.S !== undefined || value.N !== undefined) continue;
    item[name] = decoded(value);
  }
}

/** Decodes bytes where they are declared, and within lists and maps. */
function decoded(value: AttributeValue): AttributeValue {
  if (value.B !== undefined) return { B: fromBase64(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map(fromBase64) };
  if (value.L !== undefined) return { L: value.L.map(decoded) };
  if (value.M !== undefined) decodeBytes(value.M);
  return value;
}

/** No Buffer, since the SDK returns none. */
function fromBase64(text: unknown): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(String(text), 'base64');
  return new Uint8Array(buffer, byteOffset, byteLength);
}
