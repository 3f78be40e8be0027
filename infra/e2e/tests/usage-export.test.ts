import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { invoke, physicalIdOf, until } from '../support/aws.ts';
import { connectClient, unique } from '../support/client.ts';

test('the usage of a day is written to the bucket, by a function that may write only there', async () => {
  const client = await connectClient();
  await client.mqtt.publishAsync(unique('used'), 'x', { qos: 1 });
  await client.mqtt.endAsync();
  const functionName = await physicalIdOf('BrokerUsageExport', 'AWS::Lambda::Function');
  const bucket = await physicalIdOf('BrokerUsageBucket', 'AWS::S3::Bucket');
  const day = new Date().toISOString().slice(0, 10);
  const name = `usage/day=${day}/usage.csv`;
  const text = await until(
    async () => {
      expect(await invoke(functionName, { day })).toEqual({ written: [name] });
      return await readObject(bucket, name);
    },
    // Connections are counted at their end, by another function than their messages.
    (file) => /^default,[^,]+,[1-9]/m.test(file),
  );
  const [head = '', line = ''] = text.split('\r\n');
  expect(head).toMatch(/^tenant,time,connectionMs,messagesIn/);
  expect(line).toMatch(new RegExp(`^default,${day}T`));
  // A run of the schedule also exports the seven days before, if they are missing.
  expect(await invoke(functionName, {})).toMatchObject({ written: { length: 7 } });
  expect(await invoke(functionName, {})).toMatchObject({ written: { length: 1 } });
});

/** Reads as the owner would, with credentials: the bucket refuses all others. */
async function readObject(bucket: string, name: string): Promise<string> {
  const { AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION } = process.env;
  const { stdout } = await promisify(execFile)('curl', [
    ...['--silent', '--show-error', '--fail', '--aws-sigv4', `aws:amz:${AWS_REGION}:s3`],
    ...['--user', `${AWS_ACCESS_KEY_ID}:${AWS_SECRET_ACCESS_KEY}`, `${AWS_ENDPOINT_URL}/${bucket}/${name}`],
  ]);
  return stdout;
}
