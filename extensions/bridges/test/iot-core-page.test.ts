import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificates } from '../../../test/bridges/certificates.ts';
import { needsOpenssl } from '../../../test/support/openssl-or-skip.ts';
import { readBridges } from '../src/index.ts';

const PAGE = new URL('../../../docs/iot-core.md', import.meta.url);

test('the bridge in docs/iot-core.md is a valid file of bridges', needsOpenssl(), () => {
  const { directory, remove } = makeCertificates();
  onTestFinished(remove);
  const [, json = ''] = /```json\n(\{\n {2}"bridges"[\s\S]+?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const value: unknown = JSON.parse(json.replaceAll('thing.', 'client.'));
  const place = { where: 'page', directory, environment: {}, nowMs: Date.now() + 5_000 };
  expect(readBridges(value, place)).toMatchObject([{ name: 'things', kind: 'mqtt' }]);
});
