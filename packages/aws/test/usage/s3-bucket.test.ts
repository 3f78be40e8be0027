import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { sha256Hex } from '../../src/http/sha256.ts';
import { S3Bucket } from '../../src/usage/export/s3-bucket.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers with these statuses, one after another. */
async function bucketOver(...statuses: readonly number[]): Promise<{ bucket: S3Bucket; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: (await buffer(request)).toString() });
    response.writeHead(statuses[Math.min(seen.length, statuses.length) - 1] ?? 500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const bucket = new S3Bucket({
    ...{ bucketName: 'usage', region: 'eu-west-1', endpoint: `http://127.0.0.1:${port}` },
    credentials: { accessKeyId: 'AKIA', secretAccessKey: 'secret', sessionToken: 'token' },
  });
  return { bucket, seen };
}

it('signs what it puts, body and path as S3 wants them', async () => {
  const { bucket, seen } = await bucketOver(200);
  await bucket.put('usage/day=2026-11-24/usage.csv', 'tenant,time', 'text/csv');
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    ...{ method: 'PUT', url: '/usage/usage/day%3D2026-11-24/usage.csv', body: 'tenant,time' },
    headers: { 'x-amz-content-sha256': sha256Hex('tenant,time'), 'x-amz-security-token': 'token' },
  });
  expect(seen[0]?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/eu-west-1\/s3\/aws4_request, SignedHeaders=.*x-amz-content-sha256/,
  );
});

it('tells a missing file from one that it may not see', async () => {
  const { bucket } = await bucketOver(404, 200, 403);
  expect([await bucket.has('a'), await bucket.has('a')]).toEqual([false, true]);
  await expect(bucket.has('a')).rejects.toThrow('403');
});

it('tries three times where S3 is unwell, and then says so', async () => {
  const { bucket, seen } = await bucketOver(503, 500, 200, 503);
  await bucket.put('a', 'b', 'text/csv');
  expect(seen).toHaveLength(3);
  await expect(bucket.put('a', 'b', 'text/csv')).rejects.toThrow('503');
  expect(seen).toHaveLength(6);
});
