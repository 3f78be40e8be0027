import fc from 'fast-check';
import {
  attributes,
  condition,
  filter,
  NAMES,
  Placeholders,
  update,
  type Values,
} from './random-expressions.ts';

/** A call as the SDK's command takes it, without its table. */
export type RandomCall =
  | {
      readonly operation: 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'GetItem' | 'Query';
      readonly input: object;
    }
  | { readonly operation: 'BatchGetItem'; readonly keys: readonly Values[] }
  | {
      readonly operation: 'BatchWriteItem';
      readonly puts: readonly Values[];
      readonly deletes: readonly Values[];
    }
  | {
      readonly operation: 'TransactWriteItems';
      /** `Put`, `Update`, `Delete` or `ConditionCheck`, and what it holds beside its table. */
      readonly actions: readonly { readonly name: string; readonly input: object }[];
      readonly token: string | undefined;
      /** The same once more: nothing more comes of it where there is a token. */
      readonly isRepeated: boolean;
    };

const PARTITIONS = ['a', 'b'];
const SORT_KEYS = ['1', '10', 'ä', '\0', '\uffff', '\u{10000}', '\u{10ffff}'];

const key = fc.record({
  p: fc.constantFrom(...PARTITIONS).map((S) => ({ S })),
  s: fc.oneof({ weight: 3, arbitrary: fc.constant('1') }, fc.constantFrom(...SORT_KEYS)).map((S) => ({ S })),
});
const item = fc.tuple(key, attributes).map(([place, others]): Values => ({ ...others, ...place }));
const onFailure = fc.constantFrom('NONE', 'ALL_OLD');

const write = fc
  .record({
    operation: fc.constantFrom(
      'PutItem' as const,
      'UpdateItem' as const,
      'UpdateItem' as const,
      'DeleteItem' as const,
    ),
    target: item,
    change: update,
    maybe: fc.option(condition, { nil: undefined }),
    ReturnValues: fc.constantFrom('NONE', 'ALL_OLD', 'ALL_NEW'),
    ReturnValuesOnConditionCheckFailure: onFailure,
  })
  .map(({ operation, target, change, maybe, ReturnValues, ...others }): RandomCall => {
    const placeholders = new Placeholders();
    const { p, s } = target;
    const input = {
      ...(operation === 'PutItem' ? { Item: target } : { Key: { p, s } }),
      ...(operation === 'UpdateItem' && { UpdateExpression: change(placeholders) }),
      ...(maybe !== undefined && { ConditionExpression: maybe(placeholders) }),
      ReturnValues: operation === 'UpdateItem' ? ReturnValues : 'ALL_OLD',
      ...others,
      ...placeholders.input,
    };
    return { operation, input };
  });

const get = key.map((Key): RandomCall => ({ operation: 'GetItem', input: { Key, ConsistentRead: true } }));

const query = fc
  .record({
    p: fc.constantFrom(...PARTITIONS),
    ends: fc.uniqueArray(fc.constantFrom(...SORT_KEYS), { minLength: 2, maxLength: 2 }),
    limit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    isForward: fc.boolean(),
    startsAfterAnEnd: fc.boolean(),
    filter: fc.option(filter, { nil: undefined }),
    projected: fc.option(fc.subarray(NAMES, { minLength: 1 }), { nil: undefined }),
  })
  .map(({ p, ends, limit, isForward, startsAfterAnEnd, filter, projected }): RandomCall => {
    const placeholders = new Placeholders();
    const [from = '', to = ''] = [...ends].sort((one, other) =>
      Buffer.compare(Buffer.from(one), Buffer.from(other)),
    );
    const bounds = [p, from, to].map((S) => placeholders.value({ S }));
    const input = {
      KeyConditionExpression: `p = ${bounds[0]} AND s BETWEEN ${bounds[1]} AND ${bounds[2]}`,
      ConsistentRead: true,
      ScanIndexForward: isForward,
      ...(limit !== undefined && { Limit: limit }),
      ...(startsAfterAnEnd && { ExclusiveStartKey: { p: { S: p }, s: { S: isForward ? from : to } } }),
      ...(filter !== undefined && { FilterExpression: filter(placeholders) }),
      ...(projected !== undefined && {
        ProjectionExpression: ['s', ...projected.map((name) => placeholders.name(name))].join(', '),
      }),
    };
    return { operation: 'Query', input: { ...input, ...placeholders.input } };
  });

const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 6, selector: ({ p, s }) => `${p.S} ${s.S}` });

const batchGet = keys.map((each): RandomCall => ({ operation: 'BatchGetItem', keys: each }));

const batchWrite = fc.tuple(keys, fc.array(attributes, { minLength: 6, maxLength: 6 }), fc.nat(6)).map(
  ([places, others, putCount]): RandomCall => ({
    operation: 'BatchWriteItem',
    puts: places.slice(0, putCount).map((place, index) => ({ ...others[index], ...place })),
    deletes: places.slice(putCount),
  }),
);

const action = fc
  .record({
    name: fc.constantFrom('Put', 'Update', 'Delete', 'ConditionCheck'),
    target: item,
    change: update,
    maybe: fc.option(condition, { nil: undefined }),
    always: condition,
    ReturnValuesOnConditionCheckFailure: onFailure,
  })
  .map(({ name, target, change, maybe, always, ...others }) => {
    const placeholders = new Placeholders();
    const { p, s } = target;
    const wanted = name === 'ConditionCheck' ? always : maybe;
    const input = {
      ...(name === 'Put' ? { Item: target } : { Key: { p, s } }),
      ...(name === 'Update' && { UpdateExpression: change(placeholders) }),
      ...(wanted !== undefined && { ConditionExpression: wanted(placeholders) }),
      ...others,
      ...placeholders.input,
    };
    return { name, input };
  });

const transaction = fc
  .record({
    operation: fc.constant('TransactWriteItems' as const),
    actions: fc.array(action, { minLength: 1, maxLength: 4 }),
    token: fc.option(fc.uuid(), { nil: undefined }),
    isRepeated: fc.boolean(),
  })
  .map((call): RandomCall => call);

/** Calls of the kinds that this store makes, and some more, over few keys. */
export const randomCalls = fc.array(
  fc.oneof({ weight: 8, arbitrary: write }, get, { weight: 2, arbitrary: query }, batchGet, batchWrite, {
    weight: 3,
    arbitrary: transaction,
  }),
  { minLength: 1, maxLength: 30, size: 'max' },
);
