import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { needsWorkerd, newFolder, startWorkerd } from '../object/start-workerd.ts';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

it('the stores of a hub keep the contract of all stores, over SQLite in workerd', needsWorkerd, async () => {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const alias = { vitest: pathOf('vitest-in-workerd.ts') };
  const workerd = await startWorkerd(1, folder, {
    file: pathOf('contract-worker.ts'),
    hub: 'TestHub',
    alias,
  });
  onTestFinished(() => workerd.kill());
  const answer = await fetch(`http://127.0.0.1:${workerd.port}/`);
  const { cases, failed, rows } = JSON.parse(await answer.text()) as Record<string, unknown>;
  expect(failed).toEqual([]);
  expect(cases).toBeGreaterThan(200);
  expect(rows).toBeGreaterThan(0);
});
