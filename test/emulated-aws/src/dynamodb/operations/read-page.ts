import { validationError } from '../errors.ts';
import type { Condition } from '../expressions/condition.ts';
import { holds } from '../expressions/evaluate-condition.ts';
import type { Expressions } from '../expressions/expressions.ts';
import { type Projection, project } from '../expressions/projection.ts';
import { LIMITS } from '../limits.ts';
import type { Parameters } from '../parameters.ts';
import { type KeySchema, keyIn } from '../storage/key-schema.ts';
import type { Stored } from '../storage/partition.ts';
import type { Item } from '../values/attribute-value.ts';

/** The options with which Query and Scan process the items that they read. */
export interface PageOptions {
  readonly limit: number;
  readonly isConsistent: boolean;
  readonly isCount: boolean;
  readonly filter: Condition | undefined;
  readonly projection: Projection | undefined;
}

export const PAGE_PARAMETERS = [
  'ConsistentRead',
  'ExclusiveStartKey',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'FilterExpression',
  'Limit',
  'ProjectionExpression',
  'Select',
];

const INTEGER_MAX = 2 ** 31 - 1;

export function readPageOptions(parameters: Parameters, expressions: Expressions): PageOptions {
  const select = parameters.oneOf('Select', [
    'ALL_ATTRIBUTES',
    'SPECIFIC_ATTRIBUTES',
    'COUNT',
    'ALL_PROJECTED_ATTRIBUTES',
  ]);
  const projection = expressions.projection();
  refuseSelect(parameters.text('Select'), select, projection);
  return {
    limit: parameters.integer('Limit', 1, INTEGER_MAX) ?? Number.POSITIVE_INFINITY,
    isConsistent: parameters.boolean('ConsistentRead'),
    isCount: select === 'COUNT',
    filter: expressions.condition('FilterExpression'),
    projection,
  };
}

function refuseSelect(sent: string | undefined, select: string, projection: Projection | undefined): void {
  if (select === 'ALL_PROJECTED_ATTRIBUTES') {
    throw validationError(
      'One or more parameter values were invalid: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName',
    );
  }
  if (select === 'SPECIFIC_ATTRIBUTES' && projection === undefined) {
    throw validationError(
      'One or more parameter values were invalid: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
    );
  }
  if (sent === undefined || select === 'SPECIFIC_ATTRIBUTES' || projection === undefined) return;
  throw validationError(
    `Cannot specify the ProjectionExpression when choosing to get ${select === 'COUNT' ? 'only the Count' : select}`,
  );
}

export interface Page {
  readonly answer: object;
  /** Bytes of all items that were looked at, before the filter. */
  readonly bytes: number;
}

/** Takes items until the limit or 1 MB, whichever comes first; then the page has a key to continue from. */
export function readPage(items: Iterable<Stored>, schema: KeySchema, options: PageOptions): Page {
  const found: Item[] = [];
  let [scanned, bytes] = [0, 0];
  let last: Stored | undefined;
  let isCutShort = false;
  for (const stored of items) {
    if (scanned > 0 && bytes + stored.bytes > LIMITS.pageBytesMax) {
      isCutShort = true;
      break;
    }
    scanned += 1;
    bytes += stored.bytes;
    last = stored;
    if (options.filter === undefined || holds(options.filter, stored.item)) found.push(stored.item);
    // The key is returned even if no item follows: DynamoDB does not look ahead.
    if (scanned >= options.limit) {
      isCutShort = true;
      break;
    }
  }
  const { projection } = options;
  const answer = {
    ...(!options.isCount && {
      Items: projection === undefined ? found : found.map((item) => project(item, projection)),
    }),
    Count: found.length,
    ScannedCount: scanned,
    ...(isCutShort && last !== undefined && { LastEvaluatedKey: keyIn(schema, last.item).attributes }),
  };
  return { answer, bytes };
}
