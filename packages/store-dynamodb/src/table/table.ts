import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Settings } from '../options.ts';
import { LayoutError } from './errors.ts';
import { isInSessionsTable, isInStreamsTable, type Key } from './keys.ts';
import { Meter, readUnits, sizeOf, writeUnits } from './meter.ts';
import { withRetries } from './retry.ts';
import { type Item, numberOf, text, textOf, VERSION } from './values.ts';

/** The version of the layout, as an item has it. */
const LAYOUT = String(VERSION);

/** The outcome of a conditional write. A failed condition returns the present item, without a read. */
export interface Written {
  readonly ok: boolean;
  /** The item before the write, expired or not; on success only if it was asked for. */
  readonly old: Item | undefined;
  /** An earlier attempt, whose answer was lost, may have made this very write. */
  readonly isRetry: boolean;
}

export interface WriteOptions {
  readonly condition?: string;
  readonly names?: Record<string, string>;
  readonly values?: Record<string, AttributeValue>;
  readonly returnsOld?: boolean;
  /** If repeated, it could hit another item that has replaced this one: see {@link withRetries}. @default false */
  readonly once?: boolean;
}

export interface QueryRange {
  readonly p: string;
  /** Sort keys from `from` to `to`, both included. */
  readonly from: string;
  readonly to: string;
  readonly limit?: number;
  readonly isBackward?: boolean;
  /** Exclusive: the `next` of the page before. */
  readonly after?: string | undefined;
  /** Names of the wanted attributes. The units are the same, everything else is less. @default all */
  readonly attributes?: readonly string[];
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** Sort key of the last item looked at. Undefined: this is the last page. */
  readonly next: string | undefined;
  /** Read units that it took. */
  readonly units: number;
}

export interface ScanRange {
  readonly tableName: string;
  readonly segment: number;
  readonly segments: number;
  /** Exclusive: the `next` of the page before. */
  readonly after: Key | undefined;
  readonly filter: string;
  /** @default all attributes */
  readonly projection?: string | undefined;
  readonly values: Record<string, AttributeValue>;
  /** For attributes with the name of a reserved word. */
  readonly names?: Record<string, string>;
}

export interface ScanPage {
  readonly items: readonly Item[];
  /** Undefined: this is the last page. */
  readonly next: Key | undefined;
}

/** Sort keys that begin with `prefix` end before this one. */
export const endOf = (prefix: string): string => `${prefix}\u{10ffff}`;

/**
 * The tables as one: strongly consistent reads, conditional writes, limited retries, and a count of the units. The
 * partition of a key says in which table it is.
 */
export class Table {
  readonly settings: Settings;
  readonly meter = new Meter();

  constructor(settings: Settings) {
    this.settings = settings;
  }

  nameFor(p: string): string {
    const { tableName, sessionsTableName, streamsTableName } = this.settings;
    if (isInStreamsTable(p)) return streamsTableName;
    return isInSessionsTable(p) ? sessionsTableName : tableName;
  }

  /** Throws `LayoutError` for an item of another layout. */
  checkLayout(item: Item | undefined): void {
    const layout = item?.v?.N;
    if (layout !== undefined && layout !== LAYOUT)
      throw new LayoutError(this.nameFor(textOf(item, 'p') ?? ''), layout, VERSION);
  }

  /** An expired item that TTL has not deleted counts as absent. */
  isAlive(item: Item): boolean {
    this.checkLayout(item);
    const expiresAtSeconds = numberOf(item, 't');
    return expiresAtSeconds === undefined || expiresAtSeconds * 1_000 > this.settings.clock.now();
  }

  /** Now, in seconds, as the TTL attribute. */
  nowSeconds(): number {
    return Math.floor(this.settings.clock.now() / 1_000);
  }

  async get(key: Key): Promise<Item | undefined> {
    const command = new GetItemCommand({
      TableName: this.nameFor(key.p),
      Key: marshalled(key),
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
    });
    const { answer } = await withRetries('GetItem', this.settings, () => this.settings.client.send(command));
    this.countRead(answer.ConsumedCapacity, () => readUnits(sizeOf(answer.Item)));
    return answer.Item !== undefined && this.isAlive(answer.Item) ? answer.Item : undefined;
  }

  async put(item: Item, options: WriteOptions = {}): Promise<Written> {
    const command = new PutItemCommand({ ...this.#written(textOf(item, 'p') ?? '', options), Item: item });
    return await this.#write('PutItem', () => this.settings.client.send(command));
  }

  async update(key: Key, expression: string, options: WriteOptions = {}): Promise<Written> {
    const input = { ...this.#written(key.p, options), Key: marshalled(key), UpdateExpression: expression };
    const command = new UpdateItemCommand(input);
    return await this.#write('UpdateItem', () => this.settings.client.send(command), options.once);
  }

  async delete(key: Key, options: WriteOptions = {}): Promise<Written> {
    const command = new DeleteItemCommand({ ...this.#written(key.p, options), Key: marshalled(key) });
    return await this.#write('DeleteItem', () => this.settings.client.send(command), options.once);
  }

  /** One page, of at most 1 MB. */
  async query(range: QueryRange): Promise<QueryPage> {
    const output = await this.#query(range, {});
    const items = output.Items ?? [];
    const units = this.countRead(output.ConsumedCapacity, () => readUnits(sizeOfAll(items)));
    return { items: items.filter((item) => this.isAlive(item)), next: output.LastEvaluatedKey?.s?.S, units };
  }

  async queryAll(range: QueryRange): Promise<Item[]> {
    const items: Item[] = [];
    let after: string | undefined;
    do {
      const page = await this.query({ ...range, after });
      items.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return items;
  }

  /** One page, of at most 1 MB, of a segment of a whole table; eventually consistent. */
  async scan({
    tableName,
    segment,
    segments,
    after,
    filter,
    projection,
    values,
    names,
  }: ScanRange): Promise<ScanPage> {
    const command = new ScanCommand({
      TableName: tableName,
      Segment: segment,
      TotalSegments: segments,
      FilterExpression: filter,
      ...(projection !== undefined && { ProjectionExpression: projection }),
      ExpressionAttributeValues: values,
      ...(names !== undefined && { ExpressionAttributeNames: names }),
      ReturnConsumedCapacity: 'TOTAL',
      ...(after !== undefined && { ExclusiveStartKey: marshalled(after) }),
    });
    const { answer } = await withRetries('Scan', this.settings, () => this.settings.client.send(command));
    const items = answer.Items ?? [];
    // The service has also read the items that the filter left out, whose number is unknown without its count.
    this.countRead(answer.ConsumedCapacity, () => readUnits(sizeOfAll(items)) / 2);
    const last = answer.LastEvaluatedKey;
    const next = last && { p: textOf(last, 'p') ?? '', s: textOf(last, 's') ?? '' };
    return { items: items.filter((item) => this.isAlive(item)), next };
  }

  /**
   * `computed` is called only if the service's number is missing, or not trusted, as it walks over everything that was
   * read.
   */
  countRead(
    consumed: ConsumedCapacity | readonly ConsumedCapacity[] | undefined,
    computed: () => number,
  ): number {
    const { readUnitsFrom } = this.settings;
    const units = readUnitsFrom === 'service' ? (unitsIn(consumed) ?? computed()) : computed();
    this.meter.read(units);
    return units;
  }

  async #query(range: QueryRange, fields: Partial<QueryCommandInput>): Promise<QueryCommandOutput> {
    const command = new QueryCommand({
      TableName: this.nameFor(range.p),
      KeyConditionExpression: 'p = :p AND s BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':p': text(range.p), ':from': text(range.from), ':to': text(range.to) },
      ConsistentRead: true,
      ScanIndexForward: range.isBackward !== true,
      ReturnConsumedCapacity: 'TOTAL',
      ...(range.limit !== undefined && { Limit: range.limit }),
      ...(range.attributes !== undefined && { ProjectionExpression: range.attributes.join(', ') }),
      ...(range.after !== undefined && { ExclusiveStartKey: marshalled({ p: range.p, s: range.after }) }),
      ...fields,
    });
    const { answer } = await withRetries('Query', this.settings, () => this.settings.client.send(command));
    return answer;
  }

  #written(p: string, { condition, names, values, returnsOld }: WriteOptions) {
    return {
      TableName: this.nameFor(p),
      ReturnConsumedCapacity: 'TOTAL' as const,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      ReturnValues: returnsOld === true ? ('ALL_OLD' as const) : ('NONE' as const),
      ...(condition !== undefined && { ConditionExpression: condition }),
      ...(names !== undefined && { ExpressionAttributeNames: names }),
      ...(values !== undefined && { ExpressionAttributeValues: values }),
    };
  }

  async #write(
    operation: string,
    send: () => Promise<{ Attributes?: Item | undefined; ConsumedCapacity?: ConsumedCapacity | undefined }>,
    once = false,
  ): Promise<Written> {
    const { answer, isRetry } = await withRetries(
      operation,
      this.settings,
      async () => {
        try {
          const { Attributes, ConsumedCapacity } = await send();
          return { ok: true, old: Attributes, units: ConsumedCapacity?.CapacityUnits };
        } catch (error) {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
          return { ok: false, old: error.Item, units: undefined };
        }
      },
      once,
    );
    // A write that its condition prevents is billed as well, by the size of the present item.
    this.meter.write(answer.units ?? writeUnits(sizeOf(answer.old)));
    this.checkLayout(answer.old);
    return { ok: answer.ok, old: answer.old, isRetry };
  }
}

/** The units of one table, or the sum of several. Undefined: the service does not say. */
export function unitsIn(
  consumed: ConsumedCapacity | readonly ConsumedCapacity[] | undefined,
): number | undefined {
  const units = [consumed ?? []].flat().flatMap(({ CapacityUnits }) => CapacityUnits ?? []);
  return units.length === 0 ? undefined : units.reduce((sum, each) => sum + each, 0);
}

function sizeOfAll(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}

export function marshalled({ p, s }: Key): Record<string, AttributeValue> {
  return { p: text(p), s: text(s) };
}
