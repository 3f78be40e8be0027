/** The limits of DynamoDB (service, account and table quotas; naming rules and data types). AWS does not raise them. */
export const LIMITS = {
  /** An item, names and values together. */
  itemBytesMax: 400 * 1024,
  partitionKeyBytesMax: 2_048,
  sortKeyBytesMax: 1_024,
  /** Lists and maps within lists and maps. */
  nestingLevelsMax: 32,
  /** The bytes that Query and Scan read before a filter, and that BatchGetItem reads of one partition. */
  pageBytesMax: 1024 * 1024,
  batchGetKeysMax: 100,
  batchGetBytesMax: 16 * 1024 * 1024,
  batchWriteItemsMax: 25,
  transactionActionsMax: 100,
  /** Bytes of all the items of a transaction. */
  transactionBytesMax: 4 * 1024 * 1024,
  clientRequestTokenCharactersMax: 36,
  /** A transaction that is asked for again under the same token does not take effect again for this long. */
  clientRequestTokenSeconds: 10 * 60,
  /** Bytes of a request on the wire. */
  requestBytesMax: 16 * 1024 * 1024,
  /** An expression's text. */
  expressionBytesMax: 4_096,
  /** Operators and functions in an expression. */
  expressionOperatorsMax: 300,
  /** Operands of IN. */
  inOperandsMax: 100,
  /** Names and values behind the placeholders of an expression, together. */
  placeholderBytesMax: 2 * 1024 * 1024,
  scanSegmentsMax: 1_000_000,
} as const;

export const READ_UNIT_BYTES = 4 * 1024;
export const WRITE_UNIT_BYTES = 1024;

/** A partition key's share of the table, a second ("partition throughput limits"). */
export const PARTITION_READ_UNITS_PER_SECOND = 3_000;
export const PARTITION_WRITE_UNITS_PER_SECOND = 1_000;
