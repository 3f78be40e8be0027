import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { scratchFolder } from './scratch-folder.ts';

function parentFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'apus-scratch-test-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return parent;
}

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

it('a scratch folder is new, and names its process', () => {
  const parent = parentFolder();
  const [one, other] = [scratchFolder('apus-x', parent), scratchFolder('apus-x', parent)];
  expect(one).not.toBe(other);
  for (const folder of [one, other]) {
    expect(existsSync(folder)).toBe(true);
    expect(folder).toContain(`apus-x-${process.pid}-`);
  }
});

it('folders of processes that have ended are removed, with their files, and no others', async () => {
  const parent = parentFolder();
  const gone = await deadPid();
  const dead = join(parent, `apus-x-${gone}-abc`);
  const kept = [`apus-x-${process.pid}-abc`, `apus-y-${gone}-abc`, 'apus-x-abc', `apus-x-${gone}`];
  mkdirSync(dead);
  writeFileSync(join(dead, 'file'), '');
  for (const name of kept) mkdirSync(join(parent, name));
  scratchFolder('apus-x', parent);
  expect(existsSync(dead)).toBe(false);
  for (const name of kept) expect(existsSync(join(parent, name)), name).toBe(true);
});
