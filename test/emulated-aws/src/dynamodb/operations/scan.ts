import { validationError } from '../errors.ts';
import { Expressions } from '../expressions/expressions.ts';
import { LIMITS } from '../limits.ts';
import { Parameters } from '../parameters.ts';
import type { Key } from '../storage/key-schema.ts';
import { compareSortKeys, type Partition, partitionPoint, type Stored } from '../storage/partition.ts';
import { compareInScan, scanPlaceOf, segmentOf } from '../storage/scan-order.ts';
import { readUnits } from '../usage.ts';
import { COMMON, type Operation, returnConsumedCapacity } from './common.ts';
import { PAGE_PARAMETERS, readPage, readPageOptions } from './read-page.ts';
import { readStartKey } from './start-key.ts';

const PARAMETERS = [...COMMON, ...PAGE_PARAMETERS, 'Segment', 'TotalSegments'];

interface Segment {
  readonly index: number;
  readonly total: number;
}

export const scan: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(PARAMETERS);
  const returns = returnConsumedCapacity(parameters);
  const expressions = new Expressions(parameters, ['ProjectionExpression', 'FilterExpression']);
  const options = readPageOptions(parameters, expressions);
  expressions.finish();
  const segment = readSegment(parameters);
  const table = call.tables.get(parameters.tableName());
  const startKey = readStartKey(parameters, table.schema);
  if (startKey !== undefined) checkStartKey(startKey, segment);
  const items = itemsOf(call.view(table, options.isConsistent).partitions(), segment, startKey);
  const { answer, bytes } = readPage(items, table.schema, options);
  call.countRead(table, undefined, readUnits(bytes, options.isConsistent));
  return { ...answer, ...call.usage.consumed(returns) };
};

function* itemsOf(partitions: readonly Partition[], { index, total }: Segment, after: Key | undefined) {
  const place = after === undefined ? undefined : scanPlaceOf(after.partition);
  const start =
    place === undefined
      ? partitionPoint(partitions, 0, (partition) => segmentOf(partition, total) < index)
      : partitionPoint(partitions, 0, (partition) => compareInScan(partition, place) < 0);
  for (let position = start; position < partitions.length; position += 1) {
    const partition = partitions[position];
    if (partition === undefined || segmentOf(partition, total) !== index) return;
    yield* partition.key === after?.partition ? itemsAfter(partition, after) : partition.items;
  }
}

function itemsAfter({ items }: Partition, { sort }: Key): readonly Stored[] {
  return items.slice(partitionPoint(items, 0, (stored) => compareSortKeys(stored.sort, sort) <= 0));
}

function readSegment(parameters: Parameters): Segment {
  const total = parameters.integer('TotalSegments', 1, LIMITS.scanSegmentsMax);
  const index = parameters.integer('Segment', 0, LIMITS.scanSegmentsMax - 1);
  if (index === undefined && total === undefined) return { index: 0, total: 1 };
  if (total === undefined) {
    throw validationError(
      'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
    );
  }
  if (index === undefined) {
    throw validationError(
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    );
  }
  if (index < total) return { index, total };
  throw validationError(
    `The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: ${index} is not less than TotalSegments: ${total}`,
  );
}

function checkStartKey({ partition }: Key, { index, total }: Segment): void {
  if (segmentOf(scanPlaceOf(partition), total) === index) return;
  throw validationError(
    `The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: ${total} Segment: ${index}`,
  );
}
