import { type DynamoOptions, recordQueues } from '@apus/store-dynamodb';

/** `APUS_QUEUES=record` has the fault histories and the costs run over records instead of lists. */
export const QUEUES_UNDER_TEST: Pick<DynamoOptions, 'queues'> =
  process.env.APUS_QUEUES === 'record' ? { queues: recordQueues } : {};
