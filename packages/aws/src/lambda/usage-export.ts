import { createDynamoStores, leanClient } from '@apus/store-dynamodb';
import { createUsageExport } from '../usage/export/export-usage.ts';
import { S3Bucket } from '../usage/export/s3-bucket.ts';
import { functionLog } from './function-log.ts';
import { credentialsOf, exportFormatOf, required } from './settings.ts';
import { VARIABLES } from './variables.ts';

const variables = process.env;
const clock = { now: () => Date.now() };

/** It reads rows of usage, and knows nothing of clients. */
const { usage } = createDynamoStores({
  client: leanClient({ maxAttempts: 1 }),
  tableName: required(variables, VARIABLES.tableName),
  clock,
});

/** Writes the usage of each day into a bucket. */
export const handler = createUsageExport({
  store: usage,
  bucket: new S3Bucket({
    bucketName: required(variables, VARIABLES.usageBucket),
    region: required(variables, 'AWS_REGION'),
    credentials: credentialsOf(variables),
    endpoint: variables.AWS_ENDPOINT_URL_S3 ?? variables.AWS_ENDPOINT_URL,
  }),
  format: exportFormatOf(variables),
  clock,
  log: functionLog(variables),
});
