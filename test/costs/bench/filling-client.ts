import {
  BatchWriteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from './functions.ts';

const BATCH_WRITES_MAX = 25;
/** Partitions of shards, and of the items that belong to a session (docs/data-model.md). */
const SHARD = 'W\0';
const OWNED = 'I\0';

/**
 * A client that lets the store write a hundred thousand subscribers in seconds. It gathers the items of shards and
 * writes them in batches. It leaves out the lists of each session's subscriptions, as no fan-out reads them.
 */
export class FillingClient {
  isFilling = false;
  readonly #client: DynamoDBClient;
  #waiting: WriteRequest[] = [];

  constructor(client: DynamoDBClient) {
    this.#client = client;
  }

  async send(...call: Parameters<DynamoDBClient['send']>): Promise<unknown> {
    const [command] = call;
    if (!this.isFilling) return await this.#client.send(...call);
    if (command instanceof UpdateItemCommand && command.input.Key?.p?.S?.startsWith(OWNED)) return {};
    if (command instanceof PutItemCommand && command.input.Item?.p?.S?.startsWith(SHARD)) {
      this.#waiting.push({ PutRequest: { Item: command.input.Item } });
      if (this.#waiting.length === BATCH_WRITES_MAX) await this.flush();
      return {};
    }
    // A read must see the waiting writes.
    await this.flush();
    return await this.#client.send(...call);
  }

  async flush(): Promise<void> {
    const writes = this.#waiting;
    this.#waiting = [];
    if (writes.length === 0) return;
    await this.#client.send(new BatchWriteItemCommand({ RequestItems: { [TABLE]: writes } }));
  }
}
